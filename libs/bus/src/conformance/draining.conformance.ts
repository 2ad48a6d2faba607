import { monitorEventLoopDelay } from 'node:perf_hooks';
import { RawJson } from '@workspace-graph/contracts';
import type { BusStatus } from '../bus.js';
import { envelope, eventually, failureOf, gate, IDENTITY_PROBE, PROBE, pause } from './probes.js';
import type { Stage } from './stage.js';

/** A tenth of the silence after which a call is sent again, in nanoseconds. */
const HELD_UP_NS = 150e6;

export function drainingScenarios(stage: () => Stage): void {
  it('answers the calls received before it stops, and brings new ones to another instance [bus.drain]', async () => {
    const release = gate();
    let begun = 0;
    const { serving } = await stage().server(async () => {
      begun += 1;
      await release.promise;
      return 'first';
    });
    const bus = await stage().join();
    const calls = Array.from({ length: 20 }, () => bus.call(PROBE, {}, envelope()));
    await eventually('all calls are under way', () => begun === 20);
    await stage().server(() => 'second');
    const stopped = serving.stop();
    await pause(50);
    expect(await Promise.all(Array.from({ length: 20 }, () => bus.call(PROBE, {}, envelope())))).toEqual(
      Array(20).fill('second'),
    );
    release.open();
    expect(await Promise.all(calls)).toEqual(Array(20).fill('first'));
    await stopped;
  });

  it('loses no answer while one instance after the other is replaced in the middle of the traffic [bus.drain]', async () => {
    const handler = async (input: unknown): Promise<unknown> => {
      await pause(Math.random() * 5);
      return input;
    };
    let instance = (await stage().server(handler)).bus;
    const bus = await stage().join();
    let replaced = false;
    const held = monitorEventLoopDelay();
    held.enable();
    const ask = async (worker: number): Promise<void> => {
      for (let number = 0; !replaced; number += 1) {
        expect(await bus.call(PROBE, { worker, number }, envelope())).toEqual({ worker, number });
      }
    };
    const traffic = Promise.all(Array.from({ length: 64 }, (_, worker) => ask(worker)));
    for (let round = 0; round < 8; round += 1) {
      const next = (await stage().server(handler)).bus;
      await instance.close();
      instance = next;
    }
    replaced = true;
    await traffic;
    held.disable();
    // A request that a leaving instance had received but dropped would have been repeated after a silence. A process that
    // the machine held up is silent as well.
    if (held.max < HELD_UP_NS) expect(stage().log.filter((entry) => entry.message.includes('sent again'))).toEqual([]);
  });

  it('sends a large answer to its end before it leaves', async () => {
    const text = JSON.stringify('x'.repeat(20_000_000));
    const begun = gate();
    const { bus: instance } = await stage().server(() => {
      begun.open();
      return new RawJson(text);
    });
    const call = stage().ask({});
    await begun.promise;
    await instance.close();
    expect(((await call) as RawJson).text === text).toBe(true);
  });

  it('lets handlers call others while they finish', async () => {
    const [begun, release] = [gate(), gate()];
    const identity = await stage().join();
    await identity.serve('identity', [IDENTITY_PROBE], async () => 'identity');
    const { bus: graph } = await stage().server(async (_input, context) => {
      begun.open();
      await release.promise;
      return graph.call(IDENTITY_PROBE, {}, context.envelope);
    });
    const call = stage().ask({});
    await begun.promise;
    const closed = graph.close();
    await pause(20);
    release.open();
    expect(await call).toBe('identity');
    await closed;
  });

  it('waits for the calls that it made before it leaves, and makes no more', async () => {
    await stage().server(async () => {
      await pause(200);
      return 'answer';
    });
    const bus = await stage().join();
    const call = bus.call(PROBE, {}, envelope());
    await pause(20);
    const closed = bus.close();
    expect(await failureOf(bus.call(PROBE, {}, envelope()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await call).toBe('answer');
    await closed;
    expect(bus.status).toBe('closed');
  });

  it('aborts a handler that outlasts the drain', async () => {
    const seen = gate<AbortSignal>();
    const { serving } = await stage().server(
      (_input, context) => {
        seen.open(context.signal);
        return new Promise((_resolve, reject) =>
          context.signal.addEventListener('abort', () => reject(context.signal.reason)),
        );
      },
      { drainMs: 100 },
    );
    const call = failureOf(stage().ask({}, { timeoutMs: 1_000 }));
    const signal = await seen.promise;
    await serving.stop();
    expect(signal.reason).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await call).toMatchObject({ retryable: true });
  });

  it('tells its status on the way out and takes nothing on afterwards', async () => {
    const bus = await stage().join();
    const told: BusStatus[] = [];
    bus.onStatus((status) => told.push(status));
    const silenced = bus.onStatus(() => told.push('ready'));
    silenced();
    await Promise.all([bus.close(), bus.close()]);
    expect(told).toEqual(['draining', 'closed']);
    const unavailable = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });
    expect(await failureOf(bus.call(PROBE, {}, envelope()))).toEqual(unavailable);
    expect(await failureOf(bus.serve('graph', [PROBE], async () => 'never'))).toEqual(unavailable);
    expect(await failureOf(bus.subscribe(['graph.changed'], () => undefined))).toEqual(unavailable);
    expect(
      await failureOf(bus.publish({ type: 'graph.changed', id: 'e', payload: { node_ids: [], action: 'a' } })),
    ).toEqual(unavailable);
  });

  it('can stop one of several servings of a party', async () => {
    const { bus, serving } = await stage().server(() => 'graph');
    await bus.serve('identity', [IDENTITY_PROBE], async () => 'identity');
    await serving.stop();
    const caller = await stage().join({ graceMs: 100 });
    expect(await caller.call(IDENTITY_PROBE, {}, envelope())).toBe('identity');
    expect(await failureOf(caller.call(PROBE, {}, envelope()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await eventually('the bus is still ready', () => bus.status === 'ready');
  });
}
