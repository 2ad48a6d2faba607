import { type Caller, NOBODY_ID } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import type { CommandContext } from './command.js';

/** The system itself as the caller of a change that nobody asked for through a surface. */
export function systemContext(operation: string, requestId: string = newId()): CommandContext {
  const caller: Caller = { user_id: NOBODY_ID, scope: 'manage', credential_id: null, via: 'system' };
  return { envelope: { callId: newId(), requestId, caller }, caller, operation: { name: operation }, input: null };
}
