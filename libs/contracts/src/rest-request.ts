import type { InputOf, Operation, RestBinding } from './operation.js';

/** The HTTP request that calls an operation. */
export interface RestRequest {
  /** HTTP method of the operation. */
  readonly method: RestBinding['method'];
  /** Path with its query, to be appended to the base URL. */
  readonly path: string;
  /** Sent as JSON; absent for GET and DELETE. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Builds the HTTP request of an operation: path parameters from the input, the rest as query (GET, DELETE) or body. */
export function restRequest<Op extends Operation>(operation: Op, input: InputOf<Op>): RestRequest {
  if (!operation.rest) throw new Error(`Operation ${operation.name} has no REST binding`);
  const { method, path } = operation.rest;
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const filled = path.replace(/\{([a-z_]+)\}/g, (_match, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(String(value));
  });
  if (method !== 'GET' && method !== 'DELETE') return { method, path: filled, body: Object.fromEntries(rest) };
  const query = queryOf(rest);
  return { method, path: query ? `${filled}?${query}` : filled };
}

function queryOf(values: ReadonlyMap<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of values) {
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, String(item));
  }
  return query.toString();
}
