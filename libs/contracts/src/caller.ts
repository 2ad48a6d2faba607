import { z } from 'zod';

/** Scopes of a credential, weakest first. */
export const SCOPES = ['read', 'write', 'manage'] as const;
export const Scope = z.enum(SCOPES).describe('What a credential may do: read < write < manage.');
export type Scope = z.infer<typeof Scope>;

/** True when `held` includes `required`. */
export function scopeIncludes(held: Scope, required: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(required);
}

/** The scope that all of the given ones include. */
export function weakestScope(first: Scope, ...others: readonly Scope[]): Scope {
  return others.reduce((weakest, scope) => (scopeIncludes(weakest, scope) ? scope : weakest), first);
}

/** The surface a change came through; recorded in the audit trail. */
export const Via = z.enum(['rest', 'ws', 'mcp', 'runner', 'sync', 'system']);
export type Via = z.infer<typeof Via>;

/** The user of no person: of the system itself, and of a service that calls in its own name. */
export const NOBODY_ID = '00000000-0000-7000-8000-000000000000';

/** Who calls. Established by the edge from a verified credential; services trust it and nothing else. */
export const Caller = z.strictObject({
  user_id: z.string(),
  scope: Scope,
  credential_id: z.string().nullable(),
  via: Via,
  device_id: z
    .string()
    .optional()
    .describe(
      'The device that calls, for its person or for any caller that uses it. Set by the process that verified the device.',
    ),
  service: z
    .string()
    .optional()
    .describe('The service that calls in its own name. It sees no node and may call internal operations only.'),
  session_key: z
    .string()
    .nullable()
    .optional()
    .describe('Distinguishes connections of one credential, so that each has its own projections; null outside MCP.'),
  session_id: z
    .string()
    .nullable()
    .optional()
    .describe(
      'The session of an agent in whose name the caller works, whose scope limits it; set by the edge that holds its connection.',
    ),
  home_node_id: z
    .string()
    .nullable()
    .optional()
    .describe(
      'Home node of the session, as the service that is called reads it; before that, the one that the address of the connection names.',
    ),
});
export type Caller = z.infer<typeof Caller>;

/** Data that is sent with the input of an operation on every transport. */
export interface Envelope {
  /** Identity of this call; the same on every retry, so a write is applied once. */
  readonly callId: string;
  /** Shown to the caller and in every log line of the request. */
  readonly requestId: string;
  /** W3C trace context of the calling span. */
  readonly traceparent?: string;
  /** Null only for internal operations made by the system itself, inside its own process. */
  readonly caller: Caller | null;
}

/** A service as the caller of internal operations between processes. */
export function serviceCaller(service: string): Caller {
  return { user_id: NOBODY_ID, scope: 'read', credential_id: null, via: 'system', service };
}

/**
 * Whether a caller may have come from another process: the system itself calls inside its own process alone, and a
 * service has no scope of a person.
 */
export function isNamed(caller: Caller | null): caller is Caller {
  if (caller === null) return false;
  if (caller.service === undefined) return caller.via !== 'system';
  return caller.user_id === NOBODY_ID && caller.scope === 'read' && caller.device_id === undefined;
}
