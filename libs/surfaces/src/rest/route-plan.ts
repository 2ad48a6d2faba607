import type { Operation, RestBinding } from '@workspace-graph/contracts';
import { type Conditions, conditionsOf } from './conditions.js';
import { coercionsOf, type QueryCoercions } from './query-coercion.js';

/** Everything about a route that can be known before the first request. */
export interface RoutePlan {
  readonly operation: Operation;
  readonly rest: RestBinding;
  readonly pathParameters: readonly string[];
  /** False: the input is the query. */
  readonly takesBody: boolean;
  readonly coercions: QueryCoercions;
  readonly conditions: Conditions;
  readonly status: number;
  /** The answer tells by `applied` whether anything was made. */
  readonly mayOnlyPreview: boolean;
}

const CREATED = 201;

export function planOf(operation: Operation, rest: RestBinding): RoutePlan {
  const status = rest.status ?? 200;
  return {
    operation,
    rest,
    pathParameters: parametersOf(rest.path),
    takesBody: takesBody(rest),
    coercions: coercionsOf(operation.input),
    conditions: conditionsOf(operation),
    status,
    mayOnlyPreview:
      status === CREATED && 'shape' in operation.output && 'applied' in (operation.output.shape as object),
  };
}

export function takesBody({ method }: RestBinding): boolean {
  return method !== 'GET' && method !== 'DELETE';
}

export function parametersOf(path: string): string[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] ?? '');
}

/** The path in the router's spelling, where a colon begins a parameter and two are one. */
export function routerPath(path: string): string {
  return path.replaceAll(':', '::').replace(/\{([a-z_]+)\}/g, ':$1');
}
