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

/** Who calls. Established by the edge from a verified credential; services trust it and nothing else. */
export const Caller = z.strictObject({
  user_id: z.string(),
  scope: Scope,
  credential_id: z.string().nullable(),
  via: Via,
  session_key: z
    .string()
    .nullable()
    .optional()
    .describe('Tells connections of one credential apart, so that each has its own projections; null outside of MCP.'),
  home_node_id: z.string().nullable().optional().describe('Home node of the MCP connection, if it names one.'),
});
export type Caller = z.infer<typeof Caller>;

/** What travels beside an operation's input on every transport. */
export interface Envelope {
  /** Identity of this call; the same on every retry, so a write is applied once. */
  readonly callId: string;
  /** Shown to the caller and in every log line of the request. */
  readonly requestId: string;
  /** W3C trace context of the calling span. */
  readonly traceparent?: string;
  /** Null only for internal operations made by the system itself. */
  readonly caller: Caller | null;
}
