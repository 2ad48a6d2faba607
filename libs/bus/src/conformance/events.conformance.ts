import type { BusEvent, BusEventOf } from '../bus.js';
import { eventually, failureOf, gate, pause } from './probes.js';
import type { Stage } from './stage.js';

let count = 0;

function changed(action = 'renamed'): BusEventOf<'graph.changed'> {
  count += 1;
  return { type: 'graph.changed', id: `event-${count}`, payload: { node_ids: ['n1'], action } };
}

export function eventScenarios(stage: () => Stage): void {
  /** A party that collects what it hears. */
  async function listen(types: BusEvent['type'][], group?: string): Promise<BusEvent[]> {
    const heard: BusEvent[] = [];
    await (await stage().join()).subscribe(types, (event) => void heard.push(event), { group });
    return heard;
  }

  it('brings an event to all who listen to its type, the publisher included [bus.events.delivered]', async () => {
    const ears = [
      await listen(['graph.changed']),
      await listen(['graph.changed', 'access.changed']),
      await listen(['access.changed']),
    ];
    const bus = await stage().join();
    const own: BusEvent[] = [];
    await bus.subscribe(['graph.changed'], (event) => void own.push(event));
    const event = changed();
    await bus.publish(event);
    await eventually('all have heard it', () => own.length === 1 && ears[0]?.length === 1 && ears[1]?.length === 1);
    await pause(20);
    expect([...ears, own]).toEqual([[event], [event], [], [event]]);
  });

  it('brings an event to one of each group [bus.queue-groups]', async () => {
    const groups = [
      await listen(['graph.changed'], 'a'),
      await listen(['graph.changed'], 'a'),
      await listen(['graph.changed'], 'b'),
    ];
    const alone = await listen(['graph.changed']);
    const bus = await stage().join();
    for (let sent = 0; sent < 60; sent += 1) await bus.publish(changed());
    const lengths = (): number[] => groups.map((heard) => heard.length);
    await eventually(
      'each group has heard each event',
      () => (lengths()[0] ?? 0) + (lengths()[1] ?? 0) === 60 && lengths()[2] === 60,
    );
    await pause(20);
    expect(alone).toHaveLength(60);
    expect(Math.min(lengths()[0] ?? 0, lengths()[1] ?? 0)).toBeGreaterThan(5);
  });

  it('lets a subscription hear the events in order, one after the other [bus.events.delivered]', async () => {
    const heard: string[] = [];
    const bus = await stage().join();
    await bus.subscribe(['graph.changed'], async (event) => {
      heard.push(`begin ${event.payload.action}`);
      await pause(Math.random() * 4);
      heard.push(`end ${event.payload.action}`);
    });
    await Promise.all(Array.from({ length: 20 }, (_, index) => bus.publish(changed(String(index)))));
    await eventually('all are heard', () => heard.length === 40);
    expect(heard).toEqual(Array.from({ length: 20 }, (_, index) => [`begin ${index}`, `end ${index}`]).flat());
  });

  it('logs what a listener throws and goes on', async () => {
    const heard: string[] = [];
    const bus = await stage().join();
    await bus.subscribe(['graph.changed'], (event) => {
      heard.push(event.id);
      throw new Error('the listener failed');
    });
    const events = [changed(), changed()];
    for (const event of events) await bus.publish(event);
    await eventually('both are heard', () => heard.length === 2);
    expect(
      stage()
        .errors()
        .map((entry) => entry.fields['event_id']),
    ).toEqual(events.map((event) => event.id));
  });

  it('gives each listener a payload of its own', async () => {
    const heard: BusEvent[] = [];
    const bus = await stage().join();
    for (const party of [bus, await stage().join()]) {
      await party.subscribe(['graph.changed'], (event) => {
        event.payload.node_ids.push('changed by a listener');
        heard.push(event);
      });
    }
    const event = changed();
    await bus.publish(event);
    await eventually('both have heard it', () => heard.length === 2);
    expect(event.payload.node_ids).toEqual(['n1']);
    expect(heard.map((copy) => (copy as typeof event).payload.node_ids.length)).toEqual([2, 2]);
  });

  it('ends a subscription after the listener is done with what it got', async () => {
    const release = gate();
    const heard: string[] = [];
    const bus = await stage().join();
    const subscription = await bus.subscribe(['graph.changed'], async (event) => {
      await release.promise;
      heard.push(event.payload.action);
    });
    await bus.publish(changed('before'));
    await pause(20);
    const stopped = subscription.stop();
    await bus.publish(changed('after'));
    release.open();
    await stopped;
    await pause(20);
    expect(heard).toEqual(['before']);
  });

  it('refuses an event whose id a header could not carry', async () => {
    const bus = await stage().join();
    expect(await failureOf(bus.publish({ ...changed(), id: 'two\r\nlines' }))).toMatchObject({ code: 'INTERNAL' });
  });

  it('refuses an event over the limit of a request', async () => {
    const bus = await stage().join({ requestBytes: 1_000 });
    expect(await failureOf(bus.publish(changed('x'.repeat(1_000))))).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      details: { limit_bytes: 1_000 },
    });
  });
}
