import * as fc from 'fast-check';
import { ANYTHING, fieldsOf, fitting, type Generators, type Schema } from './schema-arbitrary.js';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/** A request to a route. `body` is sent as it is. */
export interface RouteCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Values = Readonly<Record<string, unknown>>;

export function routesOf(document: OpenApi): Route[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

export function resolver(document: OpenApi): (ref: string) => Schema {
  return (ref) => lookUp(document, ref) as Schema;
}

/** What a `$ref` within the document points to. @throws Error for one that points nowhere */
export function lookUp(document: OpenApi, ref: string): unknown {
  const found = ref
    .split('/')
    .slice(1)
    .reduce<unknown>((value, name) => (value as Values | undefined)?.[name], document);
  if (found === undefined) throw new Error(`${ref} points nowhere`);
  return found;
}

/** Requests as the document asks for them. */
export function validCalls(
  document: OpenApi,
  { path, operation }: Route,
  generators: Generators,
): fc.Arbitrary<RouteCall> {
  return fc
    .record({
      path: values(document, operation, 'path', generators),
      query: values(document, operation, 'query', generators),
      body: operation.requestBody
        ? fitting(operation.requestBody.content['application/json'].schema, generators)
        : fc.constant(undefined),
    })
    .map((parts) => callOf(path, parts.path, parts.query, parts.body));
}

/** Requests that are wrong in one place or in many. */
export function invalidCalls(document: OpenApi, route: Route, generators: Generators): fc.Arbitrary<RouteCall> {
  const { path, operation } = route;
  const odd = fc.dictionary(
    fc.constantFrom('limit', 'cursor', 'node_id', 'name', 'nope', '__proto__', 'constructor', 'confirmed'),
    ANYTHING,
    { maxKeys: 3 },
  );
  const parameters = fc.record(
    Object.fromEntries(
      names(document, operation, 'path').map((name) => [
        name,
        fc.oneof(generators.ids(name), fc.string({ minLength: 1, maxLength: 60 })),
      ]),
    ),
  );
  const wrongValues = fc
    .record({ path: parameters, query: odd, body: fc.oneof(odd, ANYTHING) })
    .map((parts) => callOf(path, parts.path, parts.query, operation.requestBody ? parts.body : undefined));
  const wrongShape = fc
    .tuple(
      validCalls(document, route, generators),
      fc.constantFrom<Partial<RouteCall>>(
        { body: '{"a":' },
        { body: 'null' },
        { body: '"text"' },
        { body: '[]' },
        { body: '{"__proto__":{}}' },
        { body: '' },
        { headers: { 'content-type': 'text/plain' }, body: 'x' },
        { headers: { 'content-type': 'application/json; charset=utf-16' }, body: '{}' },
        { headers: { 'if-match': 'seven' } },
        { headers: { 'if-match': '"1", "2"' } },
        { headers: { 'idempotency-key': 'a b' } },
        { headers: { 'if-none-match': 'W/"x"' } },
        { headers: { 'accept-encoding': 'br;q=x, gzip;;' } },
      ),
    )
    .map(([call, change]) => ({ ...call, ...change, headers: { ...call.headers, ...change.headers } }));
  const oneWrongField = fc
    .tuple(validCalls(document, route, generators), fc.nat(), ANYTHING)
    .map(([call, pick, value]) => spoil(call, pick, value));
  const poisoned = fc
    .tuple(validCalls(document, route, generators), fc.nat(), fc.constantFrom('a\u0000b', 'a\ud800b', '\ufffe', '%00'))
    .map(([call, pick, value]) => poison(spoil(call, pick, value), pick, value));
  return fc.oneof(wrongValues, wrongShape, oneWrongField, poisoned);
}

/** The schema of a response; undefined when the document does not know the status, null when it has no JSON body. */
export function responseSchema(document: OpenApi, { operation }: Route, status: number): Schema | null | undefined {
  const response = operation.responses[String(status)];
  if (!response) return undefined;
  const resolved = response.$ref ? (lookUp(document, response.$ref) as Response) : response;
  return resolved.content?.['application/json']?.schema ?? null;
}

function parametersOf(document: OpenApi, { parameters = [] }: OperationObject): Parameter[] {
  return parameters.map((parameter) => (parameter.$ref ? (lookUp(document, parameter.$ref) as Parameter) : parameter));
}

function names(document: OpenApi, operation: OperationObject, place: Parameter['in']): string[] {
  return parametersOf(document, operation)
    .filter((parameter) => parameter.in === place)
    .map(({ name }) => name);
}

function values(
  document: OpenApi,
  operation: OperationObject,
  place: Parameter['in'],
  generators: Generators,
): fc.Arbitrary<Values> {
  const parameters = parametersOf(document, operation).filter((parameter) => parameter.in === place);
  const fields = Object.fromEntries(parameters.map(({ name, schema }) => [name, fitting(schema, generators, name)]));
  return fieldsOf(
    fields,
    parameters.filter(({ required }) => required).map(({ name }) => name),
  );
}

function callOf(template: string, path: Values, query: Values, body: unknown): RouteCall {
  const filled = template.replace(/\{([a-z_]+)\}/g, (_match, name: string) =>
    encodeURIComponent(wellFormed(path[name])),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) search.append(name, wellFormed(item));
  }
  const withQuery = search.size > 0 ? `${filled}?${search.toString()}` : filled;
  if (body === undefined) return { path: withQuery, headers: {} };
  return { path: withQuery, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** Puts a wrong value into one field of a body. */
function spoil(call: RouteCall, pick: number, value: unknown): RouteCall {
  if (call.body === undefined) return call;
  const fields = Object.entries((JSON.parse(call.body) as Values | null) ?? {});
  const spoiled = fields.map(
    ([name, before], index) => [name, index === pick % fields.length ? value : before] as const,
  );
  return {
    ...call,
    body: JSON.stringify(Object.fromEntries([...spoiled, ...(fields.length === 0 ? [['nope', value] as const] : [])])),
  };
}

/** Puts a wrong text into one parameter of the query. */
function poison(call: RouteCall, pick: number, value: string): RouteCall {
  const [path = '', query] = call.path.split('?');
  if (query === undefined) return call;
  const search = new URLSearchParams(query);
  const names = [...search.keys()];
  search.set(names[pick % names.length] ?? 'nope', wellFormed(value));
  return { ...call, path: `${path}?${search.toString()}` };
}

/** Half a character cannot be written into a URL. */
function wellFormed(value: unknown): string {
  return (typeof value === 'string' ? value : String(JSON.stringify(value))).toWellFormed();
}
