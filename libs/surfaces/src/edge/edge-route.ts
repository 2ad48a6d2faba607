import { RouteConfig } from '@nestjs/platform-fastify';
import type { Scope } from '@workspace-graph/contracts';
import type { Span } from '@workspace-graph/platform';
import type { RouteOptions } from 'fastify';
import type { Admission } from './admission.js';

/** Who may use a route: holders of a scope, or anybody. */
export type RouteTier = Scope | 'public';

/** What a route declares to the edge. */
export interface EdgeRouteConfig {
  /** Who may use the route. A route without a tier prevents the start of the process. */
  readonly tier: RouteTier;
  /** The handler reads the JSON body as a stream. */
  readonly streamsBody?: boolean;
  /** The handler takes bodies of other types than JSON, and reads them as a stream. */
  readonly takesBytes?: boolean;
  /**
   * The handler itself ends its streams when it is notified that a credential has ended; the edge does not check them.
   */
  readonly endsStreams?: boolean;
  /** It is no route for pages in browsers: a cookie is no credential there. */
  readonly takesNoCookie?: boolean;
  /** Successes are logged for debugging alone, as on public routes. */
  readonly isQuiet?: boolean;
  /** No rate limit counts its requests. */
  readonly unlimited?: boolean;
}

/** What the edge provides to the handlers of a request. */
export interface EdgeRequest {
  /** Null on a public route, and until a credential is presented. */
  admission: Admission | null;
  /** The step of the trace that this request is. */
  readonly span: Span;
}

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<EdgeRouteConfig> {}
  interface FastifyRequest {
    edge: EdgeRequest | null;
  }
}

/** Declares the access tier of a controller's method. A route without one does not boot. */
export function EdgeRoute(config: EdgeRouteConfig): MethodDecorator {
  return RouteConfig(config);
}

/** @throws Error for a route that does not say who may use it */
export function refuseWithoutTier({ method, url, config }: RouteOptions): void {
  if (config?.tier === undefined) throw new Error(`Route ${String(method)} ${url} declares no access tier`);
}
