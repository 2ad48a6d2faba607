import { renewRuns, type SessionEvent, suspendSession } from '@workspace-graph/contracts';
import { HANDOFF_MS } from './driving/driven-runs.js';
import { SessionSweeps } from './sweeps/session-sweeps.js';
import type { ScriptedRuns } from './testing/scripted-runs.js';
import { SessionWorld } from './testing/session.fixture.js';
import { describeStates, type StatesWorld } from './testing/states.suite.js';

let world: SessionWorld;
beforeAll(async () => {
  world = await SessionWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());

/** The operations as the bus calls them, and one sweep for each that is waited for. */
function inProcess({ harness, owner, manager, reader, runs, nodeId }: SessionWorld): StatesWorld {
  const callers = { owner, manager, reader };
  return {
    runs,
    nodeId,
    userIds: { owner: owner.user_id, manager: manager.user_id, reader: reader.user_id },
    call: (operation, input, who = 'owner') => harness.call(operation, input, callers[who]),
    sql: (text, values) => harness.database.pool.query(text, [...values]).then(({ rows }) => rows),
    swept: async (what, isSo) => {
      await harness.module.get(SessionSweeps).sweep({ archiveAfterDays: 30 });
      if (!(await isSo())) throw new Error(`One sweep does not do it: ${what}`);
    },
  };
}

const last = <K extends SessionEvent['kind']>(log: readonly SessionEvent[], kind: K) =>
  log.findLast((event): event is SessionEvent & { kind: K } => event.kind === kind)?.payload;

describeStates(() => inProcess(world));

describe('a process is gone', () => {
  it('and at the start of the next one its sessions are suspended: the service restarted [sessions.suspend.on-restart, sessions.never-dropped]', async () => {
    const [lost, kept] = [await world.connect({ holder: 'before' }), await world.connect({ holder: 'now' })];
    const sweeps = world.harness.module.get(SessionSweeps);
    await sweeps.suspendRunsOfOthers(['now', 'edge-1', 'scripted']);
    expect(await world.get(lost.session.id)).toMatchObject({
      state: 'suspended',
      suspended: { reason: 'server_restart', by_server: true },
    });
    expect(last(await world.log(lost.session.id), 'run_ended')).toMatchObject({ outcome: 'lost' });
    expect(await world.get(kept.session.id)).toMatchObject({ state: 'running', is_live: true });
  });

  it('and its sessions are suspended once it has not renewed their runs for a while, by one sweep of several', async () => {
    const [lost, kept] = [await world.connect({ holder: 'gone' }), await world.connect({ holder: 'there' })];
    await world.harness.database.pool.query(
      `UPDATE session.run SET lease_until = now() - interval '1 second' WHERE id = ANY ($1)`,
      [[lost.run_id, kept.run_id]],
    );
    const renewed = await world.harness.call(
      renewRuns,
      { holder: 'there', runs: [{ run_id: kept.run_id }, { run_id: lost.run_id }] },
      world.owner,
    );
    expect(renewed).toEqual({ ended: [lost.run_id] });
    const sweeps = world.harness.module.get(SessionSweeps);
    const counts = await Promise.all([1, 2, 3].map(() => sweeps.sweep({ archiveAfterDays: 30 })));
    expect(counts.toSorted()).toEqual([0, 0, 1]);
    expect((await world.get(lost.session.id)).suspended?.reason).toBe('server_restart');
    expect((await world.kinds(lost.session.id)).filter((kind) => kind === 'run_ended')).toHaveLength(1);
    expect((await world.get(kept.session.id)).state).toBe('running');
    const again = await world.harness.call(renewRuns, { holder: 'gone', runs: [{ run_id: lost.run_id }] }, world.owner);
    expect(again).toEqual({ ended: [lost.run_id] });
  });
});

describe('a task', () => {
  it.each([
    ['is silent until its time is over', (runs: ScriptedRuns) => (runs.handoff = null)],
    [
      'does not even hear that its time is over',
      (runs: ScriptedRuns) => (runs.handOver = () => new Promise(() => undefined)),
    ],
  ])(
    'whose agent %s is suspended all the same: with the handoff of the server, and its run is stopped [sessions.suspend.missed-handoff] [sessions.suspend.runner-driven] [sessions.suspend.ends-the-run] [limits.suspend-30-seconds]',
    async (_words, keepSilent) => {
      expect(HANDOFF_MS).toBe(30_000);
      await using hasty = await SessionWorld.start({ handoffMs: 50 });
      const { session } = await hasty.task();
      keepSilent(hasty.runs);
      expect(await hasty.harness.call(suspendSession, { session_id: session.id }, hasty.owner)).toMatchObject({
        state: 'suspended',
        suspended: { reason: 'agent_missed_handoff' },
        handoff: { written_by: 'server' },
      });
      expect(hasty.runs.asked.at(-1)).toBe('stop suspended');
    },
  );
});
