import { ServiceError } from '@workspace-graph/contracts';
import { Declined } from '../failures.js';
import { envelope, failureOf, gate, PROBE } from './probes.js';
import type { Stage } from './stage.js';

const CALLS = 40;

/** Which instance a call goes to while some of them cannot carry it out. */
export function choosingScenarios(stage: () => Stage): void {
  const full = (): never => {
    throw new Declined(new ServiceError('SERVICE_UNAVAILABLE', 'This instance is full.'));
  };

  async function answers(): Promise<Set<unknown>> {
    const bus = await stage().join();
    return new Set(await Promise.all(Array.from({ length: CALLS }, () => bus.call(PROBE, {}, envelope()))));
  }

  it('brings no call to an instance that pauses, and calls again once it resumes [bus.unwell-instance.left]', async () => {
    const { serving } = await stage().server(() => 'first');
    await stage().server(() => 'second');
    await serving.pause();
    expect(await answers()).toEqual(new Set(['second']));
    await serving.resume();
    expect(await answers()).toEqual(new Set(['first', 'second']));
  });

  it('pauses, resumes and stops as often as it is told, in any order', async () => {
    const { serving } = await stage().server(() => 'first');
    await Promise.all([serving.pause(), serving.resume(), serving.pause(), serving.pause(), serving.resume()]);
    await serving.resume();
    expect(await answers()).toEqual(new Set(['first']));
    await stage().server(() => 'second');
    await serving.pause();
    await serving.stop();
    await Promise.all([serving.resume(), serving.pause()]);
    expect(await answers()).toEqual(new Set(['second']));
  });

  it('answers what an instance had received before it paused', async () => {
    const begun = gate();
    const release = gate();
    const { serving } = await stage().server(async () => {
      begun.open();
      await release.promise;
      return 'answer';
    });
    const call = stage().ask({});
    await begun.promise;
    await serving.pause();
    release.open();
    expect(await call).toBe('answer');
  });

  it('lets a call wait within the grace while every instance pauses', async () => {
    const { serving } = await stage().server(() => 'resumed');
    const bus = await stage().join({ graceMs: 5_000 });
    const hasty = await stage().join({ graceMs: 100 });
    await serving.pause();
    const call = bus.call(PROBE, {}, envelope());
    expect(await failureOf(hasty.call(PROBE, {}, envelope()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await serving.resume();
    expect(await call).toBe('resumed');
  });

  it('tries a call that one instance declines at another, under the same id [bus.refusal.tried-elsewhere]', async () => {
    const declined: string[] = [];
    const taken: string[] = [];
    await stage().server((_input, { envelope: { callId } }) => {
      declined.push(callId);
      return full();
    });
    await stage().server((_input, { envelope: { callId } }) => void taken.push(callId));
    const bus = await stage().join();
    const calls = Array.from({ length: CALLS }, () => envelope());
    await Promise.all(calls.map((call) => bus.call(PROBE, {}, call)));
    expect(taken.toSorted()).toEqual(calls.map(({ callId }) => callId).toSorted());
    expect(declined.length).toBeGreaterThan(0);
    expect(stage().errors()).toEqual([]);
  });

  it('tells why a call was declined when no instance takes it for the grace [bus.refusal.tried-elsewhere]', async () => {
    await stage().server(full);
    await stage().server(full);
    const bus = await stage().join({ graceMs: 200 });
    expect(await failureOf(bus.call(PROBE, {}, envelope()))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'This instance is full.',
    });
  });

  it('takes a call later that the only instance declined at first', async () => {
    let tries = 0;
    await stage().server(() => {
      tries += 1;
      return tries > 1 ? 'taken' : full();
    });
    expect(await stage().ask({})).toBe('taken');
  });
}
