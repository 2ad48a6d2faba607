import type { Caller } from '@workspace-graph/contracts';
import type { CommandContext } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';

/** The system itself as the caller of a change that nobody asked for through a surface. */
export function systemContext(operation: string, requestId: string = newId()): CommandContext {
  const caller: Caller = {
    user_id: '00000000-0000-7000-8000-000000000000',
    scope: 'manage',
    credential_id: null,
    via: 'system',
  };
  return {
    envelope: { callId: newId(), requestId, caller },
    caller,
    operation: { name: operation },
    input: null,
  };
}
