import {
  type ErrorCode,
  type InputOf,
  type JsonFacts,
  type Operation,
  RawJson,
  REFERENCE_NOT_FOUND,
  resolveReferences,
  ServiceError,
  validationFailed,
} from '@workspace-graph/contracts';
import * as fc from 'fast-check';
import { openApiDocument } from '../../src/index.js';
import type { Dispatched } from '../edge/edge-harness.js';
import { type OpenApi, resolver, responseSchema, routesOf } from './openapi-routes.js';
import { fitting, type Schema } from './schema-arbitrary.js';

/** Every so many calls an operation refuses, with each of its codes in turn. */
const REFUSE_EVERY = 5;
const ANSWERS = 20;
const KNOWN_ID = '0190a000-0000-7000-8000-000000000001';

/**
 * Stands in for the services: validates as they do, then answers something that fits the output, as text every other
 * time, or refuses with a code that the operation declares.
 */
export function fakeServices(seed: number): Dispatched {
  const document = openApiDocument('0.1.0') as unknown as OpenApi;
  const answers = new Map<string, readonly unknown[]>();
  let count = 0;
  return (operation, input) => {
    const parsed = operation.input.safeParse(input);
    if (!parsed.success)
      throw validationFailed(
        parsed.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message })),
      );
    count += 1;
    if (operation.name === resolveReferences.name) return found(input as InputOf<typeof resolveReferences>, count);
    if (count % REFUSE_EVERY === 0) refuse(operation.errors, count);
    const prepared = answers.get(operation.name) ?? prepare(document, operation, seed);
    answers.set(operation.name, prepared);
    const answer = prepared[count % prepared.length];
    return count % 2 === 0 ? answer : new RawJson(JSON.stringify(answer), { ...(answer as JsonFacts) });
  };
}

/** An id for whatever is named; now and then nothing goes by it. */
function found({ references }: InputOf<typeof resolveReferences>, count: number): { ids: string[] } {
  const [first] = references;
  if (first && count % REFUSE_EVERY === 0)
    throw new ServiceError(REFERENCE_NOT_FOUND[first.kind], `There is no ${first.kind} ${first.text}.`);
  return { ids: references.map(() => KNOWN_ID) };
}

function refuse(codes: readonly ErrorCode[], count: number): void {
  const code = codes[Math.floor(count / REFUSE_EVERY) % Math.max(1, codes.length)];
  if (code) throw new ServiceError(code, `refused as ${code}`, { sample: true });
}

function prepare(document: OpenApi, operation: Operation, seed: number): readonly unknown[] {
  const schema = outputSchema(document, operation);
  return fc.sample(fitting(schema, { resolve: resolver(document), ids: () => fc.uuid({ version: 7 }) }), {
    numRuns: ANSWERS,
    seed,
  });
}

function outputSchema(document: OpenApi, { name, rest }: Operation): Schema {
  const id = name === 'run_import' ? 'import_graph' : name;
  const route = routesOf(document).find(({ operation }) => operation.operationId === id);
  const schema = route && responseSchema(document, route, rest?.status ?? 200);
  return schema ?? { type: 'object', required: ['done'], properties: { done: { const: true } } };
}
