import type { BusEvent, BusStatus } from '../bus.js';
import { whenReady } from '../status.js';
import type { BusMedium, ServerProcess } from './medium.js';
import { AT_ONCE_MS, envelope, eventually, failureOf, gate, PROBE, pause, WAIT_MS } from './probes.js';
import type { Stage } from './stage.js';

const EVENT: BusEvent = { type: 'graph.changed', id: 'e', payload: { node_ids: ['n1'], action: 'renamed' } };

export function outageScenarios(stage: () => Stage): void {
  function outage(): NonNullable<BusMedium['outage']> {
    const found = stage().medium.outage;
    if (!found) throw new Error('this medium cannot fail; name the reason as an exemption');
    return found;
  }

  it('answers the calls that were under way when the parties were parted', async () => {
    const { bus: instance } = await stage().server(async (input) => {
      await pause(700);
      return input;
    });
    const bus = await stage().join();
    const calls = Array.from({ length: 20 }, (_, number) => bus.call(PROBE, { number }, envelope()));
    await pause(200);
    await outage().begin();
    await eventually('both know', () => bus.status === 'connecting' && instance.status === 'connecting');
    await pause(300);
    await outage().end();
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 20 }, (_, number) => ({ number })));
  });

  it('brings the answer of a handler that finished during the outage', async () => {
    const runs: string[] = [];
    await stage().server(async (_input, context) => {
      runs.push(context.envelope.callId);
      await pause(300);
      return 'done';
    });
    const call = stage().ask({});
    await eventually('the handler works', () => runs.length === 1);
    await outage().begin();
    await pause(600);
    await outage().end();
    expect(await call).toBe('done');
    expect(new Set(runs).size).toBe(1);
  });

  it('waits for the grace, not longer, before it refuses a new call', async () => {
    await stage().server(() => 'back');
    const patient = await stage().join({ graceMs: 5_000 });
    const hasty = await stage().join({ graceMs: 200 });
    await outage().begin();
    await eventually('both know', () => patient.status === 'connecting' && hasty.status === 'connecting');
    const call = patient.call(PROBE, {}, envelope());
    expect(await failureOf(hasty.call(PROBE, {}, envelope()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await failureOf(hasty.publish(EVENT))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await outage().end();
    expect(await call).toBe('back');
  });

  it('serves, listens and calls after each of several outages, and tells its status [bus.reconnect]', async () => {
    const heard: string[] = [];
    const { bus: instance } = await stage().server((input) => input);
    await instance.subscribe(['graph.changed'], (event) => void heard.push(event.id));
    const bus = await stage().join();
    const told: BusStatus[] = [];
    bus.onStatus((status) => told.push(status));
    for (let round = 0; round < 3; round += 1) {
      await outage().begin();
      await eventually('the bus knows', () => bus.status === 'connecting');
      await outage().end();
      await Promise.all([bus, instance].map((party) => whenReady(party, AbortSignal.timeout(10_000))));
      expect(await bus.call(PROBE, { round }, envelope())).toEqual({ round });
      await bus.publish({ ...EVENT, id: `round-${round}` });
      // An event that a broker has taken goes with it when it is killed before passing it on.
      await eventually(`the event of round ${round} is heard`, () => heard.length > round);
    }
    expect(heard).toEqual(['round-0', 'round-1', 'round-2']);
    expect(told).toEqual(Array(3).fill(['connecting', 'ready']).flat());
  });

  it('starts while nobody can be reached and works once that has changed [bus.start-before-broker]', async () => {
    await outage().begin();
    const instance = stage().enter();
    const bus = stage().enter({ graceMs: 200 });
    const heard: BusEvent[] = [];
    expect([instance.status, bus.status]).toEqual(['connecting', 'connecting']);
    await instance.serve('graph', [PROBE], async () => 'served');
    await instance.subscribe(['graph.changed'], (event) => void heard.push(event));
    expect(await failureOf(bus.call(PROBE, {}, envelope()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(stage().log.some((entry) => entry.level === 'warn' && entry.message.includes('cannot be reached'))).toBe(
      true,
    );
    await outage().end();
    await Promise.all([bus, instance].map((party) => whenReady(party, AbortSignal.timeout(10_000))));
    expect(await bus.call(PROBE, {}, envelope(), { timeoutMs: 5_000 })).toBe('served');
    await bus.publish(EVENT);
    await eventually('the event is heard', () => heard.length === 1);
  });

  it('takes up serving and listening that began during an outage', async () => {
    const instance = await stage().join();
    const bus = await stage().join({ graceMs: 5_000 });
    await outage().begin();
    await eventually('both know', () => bus.status === 'connecting' && instance.status === 'connecting');
    await instance.serve('graph', [PROBE], async () => 'served');
    const call = bus.call(PROBE, {}, envelope());
    await outage().end();
    expect(await call).toBe('served');
  });

  it('leaves during an outage without waiting for its end', async () => {
    const patient = { graceMs: WAIT_MS, drainMs: WAIT_MS };
    const { bus: instance } = await stage().server(() => 'unheard', patient);
    const bus = await stage().join(patient);
    await outage().begin();
    await eventually('both know', () => bus.status === 'connecting' && instance.status === 'connecting');
    const startMs = performance.now();
    const never = stage().enter(patient);
    await Promise.all([bus.close(), instance.close(), never.close()]);
    expect(performance.now() - startMs).toBeLessThan(AT_ONCE_MS);
    await outage().end();
  });
}

export function killScenarios(stage: () => Stage): void {
  async function startServers(count: number): Promise<Map<number, ServerProcess>> {
    const { startServer } = stage().medium;
    if (!startServer) throw new Error('this medium cannot start a process; name the reason as an exemption');
    const servers = await Promise.all(Array.from({ length: count }, () => startServer()));
    return new Map(servers.map((server) => [server.pid, server]));
  }

  it('repeats a call elsewhere when the instance that works on it is killed', async () => {
    const servers = await startServers(2);
    const working = gate<number>();
    const bus = await stage().join();
    const callIds: string[] = [];
    await bus.subscribe(['graph.changed'], (event) => {
      callIds.push(event.id);
      working.open(Number(event.payload.action));
    });
    const sent = envelope();
    const startMs = performance.now();
    const call = bus.call(PROBE, { workMs: 1_000 }, sent, { timeoutMs: WAIT_MS });
    const killed = await working.promise;
    await servers.get(killed)?.kill();
    const answer = (await call) as { pid: number };
    expect(answer.pid).not.toBe(killed);
    expect(callIds).toEqual([sent.callId, sent.callId]);
    expect(performance.now() - startMs).toBeLessThan(AT_ONCE_MS);
    for (const server of servers.values()) await server.kill();
  });

  it('leaves an instance that is frozen [bus.unwell-instance.left]', async () => {
    const servers = await startServers(2);
    const working = gate<number>();
    const bus = await stage().join();
    await bus.subscribe(['graph.changed'], (event) => working.open(Number(event.payload.action)));
    const call = bus.call(PROBE, { workMs: 1_000 }, envelope());
    const frozen = await working.promise;
    process.kill(frozen, 'SIGSTOP');
    const calls = Array.from({ length: 80 }, () => bus.call(PROBE, { workMs: 0 }, envelope()));
    const answers = (await Promise.all([call, ...calls])) as { pid: number }[];
    expect(answers.filter(({ pid }) => pid === frozen)).toEqual([]);
    // About half of the calls went to the frozen one first; by chance alone, some would not have left it in time.
    expect(stage().warnings().length).toBeGreaterThan(1);
    for (const server of servers.values()) await server.kill();
  });

  it('loses no call when an instance is killed in the middle of the traffic [bus.instance-death.no-failed-request]', async () => {
    const servers = [...(await startServers(2)).values()];
    const bus = await stage().join();
    const answers: unknown[] = [];
    const ask = async (): Promise<void> => {
      for (let number = 0; number < 30; number += 1) answers.push(await bus.call(PROBE, { workMs: 10 }, envelope()));
    };
    const traffic = Promise.all(Array.from({ length: 8 }, ask));
    await pause(150);
    await servers[0]?.kill();
    await traffic;
    expect(answers).toHaveLength(240);
    await servers[1]?.kill();
  });
}
