import { ERRORS, isErrorCode } from '@workspace-graph/contracts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as fc from 'fast-check';
import { KnownValues } from './known-values.js';
import {
  invalidCalls,
  type OpenApi,
  type Route,
  type RouteCall,
  resolver,
  responseSchema,
  routesOf,
  validCalls,
} from './openapi-routes.js';
import type { Generators, Schema } from './schema-arbitrary.js';

/** A running server. */
export interface OpenApiTarget {
  readonly baseUrl: string;
  /** Bearer token with the scope manage. */
  readonly token: string;
}

export interface OpenApiSuiteOptions {
  /** Asked for when the tests run. */
  readonly target: () => OpenApiTarget;
  /** Calls of each kind to each route. Default: 25. */
  readonly runs?: number;
  /** Default: a fixed one. */
  readonly seed?: number;
  /** Routes that this run leaves alone, each with its reason. */
  readonly except?: Readonly<Record<string, string>>;
  /** Operations that calls at random hardly ever meet the state for; they need not be carried out. */
  readonly seldom?: ReadonlySet<string>;
  /** Milliseconds within which each call must be answered. Default: 10,000. */
  readonly answerMs?: number;
}

/** What reads comes first, so that its answers tell ids; what deletes comes last. */
const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const FIRST_ERROR_STATUS = 400;
/** Some operations need a state that calls at random seldom make: so many may be refused. */
const MOST_ONLY_REFUSED = 12;
const DEFAULT_ANSWER_MS = 10_000;
const ROUTE_TEST_MS = 300_000;

/** Makes calls of a server's own document and judges the answers. */
class DocumentCaller {
  private readonly ajv = withFormats();
  /** Operations that were carried out at least once. */
  readonly succeeded = new Set<string>();
  private readonly generators: Generators;

  private constructor(
    private readonly target: OpenApiTarget,
    private readonly document: OpenApi,
    private readonly known: KnownValues,
  ) {
    this.ajv.addSchema({ $id: 'document', ...document });
    this.generators = { resolve: resolver(document), ids: (name) => known.ids(name), cursors: () => known.cursors() };
  }

  static async open(target: OpenApiTarget): Promise<DocumentCaller> {
    const document = (await ask(target, '/openapi.json')) as OpenApi;
    const me = (await ask(target, '/me')) as { user: { id: string }; credential_id: string | null };
    return new DocumentCaller(target, document, new KnownValues(new Set([me.user.id, me.credential_id ?? ''])));
  }

  get routes(): readonly Route[] {
    const rank = ({ method }: Route): number => ORDER.indexOf(method);
    return routesOf(this.document).toSorted((first, second) => rank(first) - rank(second));
  }

  calls(kind: 'valid' | 'invalid', route: Route): fc.Arbitrary<RouteCall> {
    const make = kind === 'valid' ? validCalls : invalidCalls;
    return make(this.document, route, this.generators);
  }

  /** @throws Error that tells the call, the answer and what is wrong with it */
  async check(route: Route, call: RouteCall, answerMs: number): Promise<void> {
    const { status, text, type } = await send(this.target, route, call, answerMs);
    const json = type.startsWith('application/json') ? text : null;
    const problem = status === 500 ? 'a bug' : this.problemOf(route, status, json);
    const told = `${route.method} ${call.path} ${call.body ?? ''} answered ${status} ${text.slice(0, 500)}`;
    if (problem) throw new Error(`${told}: ${problem}`);
    if (status >= FIRST_ERROR_STATUS) return;
    this.succeeded.add(route.operation.operationId);
    if (json !== null && json !== '') this.known.learn(route.path, JSON.parse(json));
  }

  private problemOf(route: Route, status: number, json: string | null): string | undefined {
    const schema = responseSchema(this.document, route, status);
    if (schema === undefined) return 'the document does not know this status';
    if (schema === null || json === null) return undefined;
    const validate = validator(this.ajv, schema);
    const body: unknown = JSON.parse(json);
    if (!validate(body)) return this.ajv.errorsText(validate.errors);
    return status >= FIRST_ERROR_STATUS && hasOtherStatus(body, status) ? 'the code has another status' : undefined;
  }
}

/**
 * Calls every route of a running server from its own document, with input that fits and input that does not: never
 * a 500, never silence, and every answer fits the schema that the document gives for its status.
 */
export function openApiSuite(options: OpenApiSuiteOptions): void {
  const {
    target,
    runs = 25,
    seed = 20_261_122,
    except = {},
    seldom = new Set(),
    answerMs = DEFAULT_ANSWER_MS,
  } = options;
  describe(`calls made from the document, seed ${seed}`, () => {
    let caller: DocumentCaller;
    beforeAll(async () => {
      caller = await DocumentCaller.open(target());
    });

    it('know its routes', () => {
      expect(caller.routes.length).toBeGreaterThan(40);
    });

    it.each(['valid', 'invalid'] as const)(
      'with %s input never give a 500, never hang, and always fit their schema [edge.openapi.truthful, errors.table.complete]',
      async (kind) => {
        const failures: string[] = [];
        for (const route of caller.routes.filter(({ operation }) => !(operation.operationId in except))) {
          const property = fc.asyncProperty(caller.calls(kind, route), (call) => caller.check(route, call, answerMs));
          const told = { numRuns: runs, seed, endOnFailure: true, includeErrorInReport: true };
          await fc.assert(property, told).catch((error: unknown) => void failures.push(String(error)));
        }

        expect(failures).toEqual([]);
      },
      ROUTE_TEST_MS,
    );

    it('are carried out, and not only refused', () => {
      const operations = caller.routes.map(({ operation }) => operation.operationId);
      const onlyRefused = operations.filter(
        (name) => !(name in except) && !seldom.has(name) && !caller.succeeded.has(name),
      );

      expect(onlyRefused.slice(MOST_ONLY_REFUSED)).toEqual([]);
    });
  });
}

/** Whether the code of an error object does not belong to the status that it came with. */
function hasOtherStatus(body: unknown, status: number): boolean {
  const code = typeof body === 'object' && body !== null && 'code' in body ? String(body.code) : '';
  return isErrorCode(code) && ERRORS[code].status !== status;
}

function withFormats(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  addFormats.default(ajv);
  return ajv;
}

async function ask({ baseUrl, token }: OpenApiTarget, path: string): Promise<unknown> {
  const response = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${token}` } });
  return response.json();
}

const validators = new WeakMap<Schema, ValidateFunction>();

function validator(ajv: Ajv2020, schema: Schema): ValidateFunction {
  const compiled = validators.get(schema) ?? ajv.compile(absolute(schema));
  validators.set(schema, compiled);
  return compiled;
}

/** References are into the document, which has an id of its own here. */
function absolute(schema: Schema): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')) as object;
}

async function send(
  { baseUrl, token }: OpenApiTarget,
  { method }: Route,
  { path, headers, body }: RouteCall,
  answerMs: number,
) {
  const response = await fetch(baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: AbortSignal.timeout(answerMs),
    ...(body === undefined || method === 'GET' ? {} : { body }),
  });
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') ?? '' };
}
