import * as contracts from '@workspace-graph/contracts';
import { OPERATIONS, type Operation, type RestBinding } from '@workspace-graph/contracts';
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { conditionsOf } from './conditions.js';
import { extraPaths } from './openapi-extra-paths.js';
import { namedInput, namedParameter, REFERENCE_SCHEMAS } from './openapi-references.js';
import { ErrorSchema, errorResponses, extraCodes, sharedResponses } from './openapi-responses.js';
import { tagsOf } from './openapi-tags.js';
import { parametersOf, takesBody } from './route-plan.js';

export type OpenApiDocument = ReturnType<typeof createDocument>;
type Method = 'get' | 'put' | 'post' | 'delete' | 'patch';

const DESCRIPTION =
  'One graph of an organisation: nodes, edges, events and who may see them. Every route is one operation. ' +
  'In place of the id of a node, an actor, a user or a group, a call accepts the path of the node (`kubernetes/areas/sig-network`, ' +
  'percent-encoded in a URL: `kubernetes%2Fareas%2Fsig-network`) or a unique name; ' +
  'an ambiguous one is refused with the candidates. Answers always contain ids. ' +
  'All errors are one object with a stable `code`. Lists are paged with `cursor`. ' +
  'If the reply to a change was lost, repeat it with the same `Idempotency-Key`.';

const PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description: 'Send the same key with every repetition of a request: the change is applied once.',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description: 'ETag of the record that the change is based on; a stale one fails with CONFLICT.',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description: 'ETags of answers that you have; if one of them is current, the response is 304.',
  },
} as const;
const TEXT_HEADER = { schema: { type: 'string' } } as const;
const HEADERS = {
  ETag: { ...TEXT_HEADER, description: 'Version of the answer, for If-Match or If-None-Match.' },
  'Retry-After': { ...TEXT_HEADER, description: 'Seconds to wait.' },
  'WWW-Authenticate': { ...TEXT_HEADER, description: 'How to authenticate.' },
} as const;

/** The OpenAPI 3.1 document of all routes, built from the table of operations. */
export function openApiDocument(
  version: string,
  operations: readonly Operation[] = [...OPERATIONS.values()],
): OpenApiDocument {
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Workspace Graph',
        version,
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'The service that serves this document.' }],
      security: [{ bearer: [] }],
      tags: tagsOf(operations),
      paths: { ...operationPaths(operations), ...extraPaths(operations) },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'A personal or device token, or a JWT of the identity provider.',
          },
        },
        schemas: { Error: ErrorSchema, ...namedSchemas(), ...REFERENCE_SCHEMAS },
        responses: sharedResponses(),
        parameters: PARAMETERS,
        headers: HEADERS,
      },
    },
    { override: ({ jsonSchema }) => simplify(jsonSchema) },
  );
  return withoutUnused(withNames(document));
}

/** Inputs take names as well as the ids that their operations are called with. */
function withNames(document: OpenApiDocument): OpenApiDocument {
  const all = (document.paths ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const paths = mapValues(all, (methods) => mapValues(methods, namedRoute));
  return { ...document, paths };
}

function namedRoute(route: unknown): unknown {
  const { parameters, requestBody } = route as {
    parameters?: { name?: string; schema?: unknown }[];
    requestBody?: { content: Record<string, { schema?: unknown }> };
  };
  const content = mapValues(requestBody?.content ?? {}, (media) => ({ ...media, schema: namedInput(media.schema) }));
  return {
    ...(route as object),
    ...(parameters ? { parameters: parameters.map(namedParameter) } : {}),
    ...(requestBody ? { requestBody: { ...requestBody, content } } : {}),
  };
}

function mapValues<T, R>(record: Readonly<Record<string, T>>, change: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** Drops the named schemas that no route leads to. */
function withoutUnused(document: OpenApiDocument): OpenApiDocument {
  const { schemas = {}, ...components } = document.components ?? {};
  const text = JSON.stringify(document);
  const used = Object.entries(schemas).filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
  const smaller = { ...document, components: { ...components, schemas: Object.fromEntries(used) } };
  return used.length === Object.keys(schemas).length ? smaller : withoutUnused(smaller);
}

/** A format says more than the long pattern beside it, bounds of the number type say nothing. A tuple is as long as it is. */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.format !== undefined) delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  const { prefixItems } = schema;
  // Tools that know no `prefixItems` want `items`, and then take the length for all that is said.
  if (prefixItems) Object.assign(schema, { items: {}, minItems: prefixItems.length, maxItems: prefixItems.length });
}

function operationPaths(operations: readonly Operation[]): ZodOpenApiPathsObject {
  const paths: Record<string, Partial<Record<Method, ZodOpenApiOperationObject>>> = {};
  for (const operation of operations) {
    if (!operation.rest) continue;
    const { method, path } = operation.rest;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(operation, operation.rest) };
  }
  return paths;
}

function describe(operation: Operation, rest: RestBinding): ZodOpenApiOperationObject {
  const { name, doc, tier, input } = operation;
  const inPath = parametersOf(rest.path);
  const path = z.strictObject(Object.fromEntries(inPath.map((parameter) => [parameter, given(input, parameter)])));
  const remaining = input.omit(mask([...inPath, ...(rest.unused ?? [])]));
  const hasBody = takesBody(rest);
  return {
    operationId: name,
    tags: [rest.tag],
    summary: firstSentence(doc),
    description: `${doc} Needs the scope \`${tier}\`.`,
    parameters: headerParameters(operation),
    requestParams: { ...(inPath.length > 0 ? { path } : {}), ...(hasBody ? {} : { query: remaining }) },
    ...(hasBody
      ? {
          requestBody: {
            required: !remaining.safeParse({}).success,
            content: { 'application/json': { schema: remaining } },
          },
        }
      : {}),
    responses: { ...successResponses(operation, rest), ...errorResponses(extraCodes(operation)) },
  };
}

function successResponses(
  operation: Operation,
  { status = 200 }: RestBinding,
): NonNullable<ZodOpenApiOperationObject['responses']> {
  const { tagPath } = conditionsOf(operation);
  const answer = {
    description: 'Done.',
    ...(tagPath ? { headers: { ETag: { $ref: '#/components/headers/ETag' } } } : {}),
    content: { 'application/json': { schema: operation.output } },
  };
  const previews = status === 201 && operation.output instanceof z.ZodObject && 'applied' in operation.output.shape;
  return {
    ...(previews ? { '200': { ...answer, description: 'A preview; nothing was changed.' } } : {}),
    [`${status}`]: answer,
    ...(mayBeUnchanged(operation) ? { '304': { description: 'Unchanged.' } } : {}),
  };
}

/** Whether there is an ETag that If-None-Match may name. */
function mayBeUnchanged(operation: Operation): boolean {
  return operation.readOnly && conditionsOf(operation).tagPath !== undefined;
}

function headerParameters(operation: Operation): { $ref: string }[] {
  const { takesVersion } = conditionsOf(operation);
  const names = [
    ...(operation.readOnly ? [] : ['IdempotencyKey']),
    ...(takesVersion ? ['IfMatch'] : []),
    ...(mayBeUnchanged(operation) ? ['IfNoneMatch'] : []),
  ];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** Records and enumerations of the contract, each one component under its own name. */
function namedSchemas(): Record<string, z.ZodType> {
  const named = Object.entries<unknown>(contracts).filter(
    (entry): entry is [string, z.ZodType] =>
      /^[A-Z][a-z]/.test(entry[0]) && (entry[1] instanceof z.ZodObject || entry[1] instanceof z.ZodEnum),
  );
  return Object.fromEntries(named);
}

/** An input that is optional elsewhere is always there in a path. */
function given({ shape }: Operation['input'], parameter: string): z.core.$ZodType {
  const schema: unknown = shape[parameter];
  return schema instanceof z.ZodOptional ? schema.unwrap() : (schema as z.core.$ZodType);
}

function mask(names: readonly string[]): Record<string, true> {
  return Object.fromEntries(names.map((name) => [name, true]));
}

function firstSentence(doc: string): string {
  return /^.*?[.:](?=\s|$)/.exec(doc)?.[0].replace(/:$/, '.') ?? doc;
}
