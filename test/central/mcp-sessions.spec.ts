import { createToken, revokeToken } from '@workspace-graph/contracts';
import { ScriptedRuns } from '@workspace-graph/service-session/testing';
import pg from 'pg';
import { type ConnectionsWorld, describeConnections } from '../live/connections.suite.js';
import { startWorld } from './central-world.js';
import { serveScriptedSessions } from './scripted-sessions.js';

const cleanup = new AsyncDisposableStack();
let connections: ConnectionsWorld;
beforeAll(async () => {
  const world = cleanup.use(await startWorld({ replicas: { 'session-svc': 0, 'graph-svc': 1 } }));
  const runs = new ScriptedRuns();
  cleanup.use(await serveScriptedSessions(world, runs));
  const pool = new pg.Pool({ connectionString: world.central.databaseUrl, max: 2 });
  cleanup.defer(() => pool.end());
  connections = {
    ada: world.ada,
    urls: () => world.urls,
    person: async () => {
      const { userId, token, tokenId } = await world.newcomer(`Olga ${Math.random()}`, 'write');
      const other = { label: 'to look with', scope: 'write', user_id: userId } as const;
      const { secret } = await world.ada.call(createToken, other);
      return { agents: { token, id: tokenId }, looking: secret };
    },
    revoke: (token_id) => world.ada.call(revokeToken, { token_id }),
    sql: (text, values) => pool.query(text, [...values]),
    // The service sweeps by itself.
    sweep: () => Promise.resolve(),
    doomed: async () => {
      const third = await world.central.add('gateway');
      return { url: world.central.opsUrl(third), kill: () => third.kill() };
    },
  };
});
afterAll(() => cleanup.disposeAsync());

describe('at several gateways', () => describeConnections(() => connections));
