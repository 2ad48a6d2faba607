import { type Caller, type Operation, RawJson, ServiceError } from '@workspace-graph/contracts';
import { newId, OperationRegistry } from '@workspace-graph/platform';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { DEVICES, USERS } from './baseline.js';
import { transcribeWorld } from './story.js';
import type { Role, Surface, Told } from './surface.js';

const CALLERS: Readonly<Record<Role, Caller>> = {
  reader: { user_id: USERS.rita, scope: 'read', credential_id: null, via: 'rest' },
  writer: { user_id: USERS.wil, scope: 'write', credential_id: null, via: 'rest' },
};
/** The same persons by their devices. */
const BY_DEVICE: Readonly<Record<Role, Caller>> = {
  reader: { ...CALLERS.reader, via: 'sync', device_id: DEVICES.rita },
  writer: { ...CALLERS.writer, via: 'sync', device_id: DEVICES.wil },
};
const ADA: Caller = { user_id: USERS.ada, scope: 'manage', credential_id: null, via: 'rest' };

describe('to those who may not see them, hidden nodes', () => {
  it('change nothing in any answer of the services [access.hidden.nowhere] [access.hidden.indistinguishable-from-absent] [access.hidden.two-worlds] [graph.search.visible-only]', async () => {
    const worlds = [await tell(CALLERS, false), await tell(CALLERS, true)] as const;
    expect(worlds[0].length).toBeGreaterThan(400);
    expectAlike(...worlds);
  }, 300_000);

  it('change nothing in any answer to their devices [access.hidden.nowhere] [access.hidden.two-worlds] [access.device.own-person]', async () => {
    const worlds = [await tell(BY_DEVICE, false), await tell(BY_DEVICE, true)] as const;
    expect(worlds[0].length).toBeGreaterThan(400);
    expectAlike(...worlds);
  }, 300_000);
});

/** One by one: a difference is told with the call that shows it. */
function expectAlike(without: readonly string[], with_: readonly string[]): void {
  for (const [index, line] of without.entries()) expect(with_[index]).toBe(line);
  expect(with_).toHaveLength(without.length);
}

async function tell(callers: Readonly<Record<Role, Caller>>, withSecrets: boolean): Promise<readonly string[]> {
  const harness = await startServices([GraphModule, IdentityModule]);
  try {
    return await transcribeWorld(surfaceOf(harness, callers), withSecrets);
  } finally {
    await harness.close();
  }
}

/** The services as the bus reaches them. */
function surfaceOf(harness: ServiceHarness, callers: Readonly<Record<Role, Caller>>): Surface {
  const { dispatch } = harness.module.get(OperationRegistry);
  return {
    sql: async (text) => void (await harness.database.pool.query(text)),
    manage: (operation, input) => harness.call(operation, input, ADA),
    tell: async (operation: Operation, input: unknown, role: Role): Promise<Told> => {
      const envelope = { callId: newId(), requestId: 'request', caller: callers[role] };
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
