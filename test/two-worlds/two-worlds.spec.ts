import { type Caller, type Operation, RawJson, ServiceError } from '@workspace-graph/contracts';
import { newId, OperationRegistry } from '@workspace-graph/platform';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { USERS } from './ground.js';
import { tellWorld } from './story.js';
import type { Role, Surface, Told } from './surface.js';

const CALLERS: Readonly<Record<Role, Caller>> = {
  reader: { user_id: USERS.rita, scope: 'read', credential_id: null, via: 'rest' },
  writer: { user_id: USERS.wil, scope: 'write', credential_id: null, via: 'rest' },
};
const ADA: Caller = { user_id: USERS.ada, scope: 'manage', credential_id: null, via: 'rest' };

describe('to those who may not see them, hidden nodes', () => {
  it('change nothing in any answer of the services [access.hidden.nowhere] [access.hidden.indistinguishable-from-absent] [access.hidden.two-worlds] [graph.search.visible-only]', async () => {
    const [without, with_] = [await tell(false), await tell(true)];
    expect(without.length).toBeGreaterThan(400);
    // One by one: a difference is told with the call that shows it.
    for (const [index, line] of without.entries()) expect(with_[index]).toBe(line);
    expect(with_).toHaveLength(without.length);
  }, 300_000);
});

async function tell(withSecrets: boolean): Promise<readonly string[]> {
  const harness = await startServices([GraphModule, IdentityModule]);
  try {
    return await tellWorld(surfaceOf(harness), withSecrets);
  } finally {
    await harness.close();
  }
}

/** The services as the bus reaches them. */
function surfaceOf(harness: ServiceHarness): Surface {
  const { dispatch } = harness.module.get(OperationRegistry);
  return {
    sql: async (text) => void (await harness.database.pool.query(text)),
    manage: (operation, input) => harness.call(operation, input, ADA),
    tell: async (operation: Operation, input: unknown, role: Role): Promise<Told> => {
      const envelope = { callId: newId(), requestId: 'request', caller: CALLERS[role] };
      try {
        const reply = await dispatch(operation, input, { envelope, signal: new AbortController().signal });
        const text = reply instanceof RawJson ? reply.text : JSON.stringify(reply);
        return { text, value: JSON.parse(text) };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return { text: JSON.stringify(error.toBody('request')), value: undefined };
      }
    },
  };
}
