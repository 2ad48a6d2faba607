import { randomUUID } from 'node:crypto';
import { NatsBus, whenReady } from '@workspace-graph/bus';
import { type Caller, createNode, createUser, type OutputOf, RawJson, type Scope } from '@workspace-graph/contracts';
import { createLogger } from '@workspace-graph/platform';
import { describeStates, ScriptedRuns, type StatesWorld } from '@workspace-graph/service-session/testing';
import pg from 'pg';
import { type CentralWorld, startWorld, until } from './central-world.js';
import { serveScriptedSessions } from './scripted-sessions.js';

const logger = createLogger({ process: 'test', level: 'fatal' });
const cleanup = new AsyncDisposableStack();
let states: StatesWorld;
beforeAll(async () => {
  const world = cleanup.use(await startWorld({ replicas: { 'session-svc': 0, gateway: 1, 'graph-svc': 1 } }));
  const runs = new ScriptedRuns();
  cleanup.use(await serveScriptedSessions(world, runs));
  states = await statesOf(world, runs);
});
afterAll(() => cleanup.disposeAsync());

/** Sessions as a gateway calls them over the broker. */
async function statesOf({ central, ada }: CentralWorld, runs: ScriptedRuns): Promise<StatesWorld> {
  const { url, user, password } = central.brokerAccess('gateway');
  const bus = NatsBus.connect({ servers: url, name: user, user, password, logger });
  cleanup.defer(() => bus.close());
  await whenReady(bus, AbortSignal.timeout(60_000));
  const pool = new pg.Pool({ connectionString: central.databaseUrl, max: 2 });
  cleanup.defer(() => pool.end());

  const person = async (name: string, scope: Scope): Promise<Caller> => {
    const { id } = await ada.call(createUser, { name, max_scope: scope });
    return { user_id: id, scope, credential_id: null, via: 'rest' };
  };
  const callers = {
    owner: await person('Olga', 'write'),
    manager: await person('Mara', 'manage'),
    reader: await person('Rita', 'read'),
  };
  const { id: nodeId } = await ada.call(createNode, { type: 'organization', name: 'Home' });
  return {
    runs,
    nodeId,
    userIds: { owner: callers.owner.user_id, manager: callers.manager.user_id, reader: callers.reader.user_id },
    call: async (operation, input, who = 'owner') => {
      const id = randomUUID();
      const reply = await bus.call(operation, input, { callId: id, requestId: id, caller: callers[who] });
      return (reply instanceof RawJson ? reply.parse() : reply) as OutputOf<typeof operation>;
    },
    sql: async (text, values) => (await pool.query<Record<string, unknown>>(text, [...values])).rows,
    swept: (what, isSo) => until(what, isSo),
  };
}

describe('in a central workspace', () => describeStates(() => states));
