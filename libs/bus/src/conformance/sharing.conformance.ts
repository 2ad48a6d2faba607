import { envelope, IDENTITY_PROBE, PROBE, pause, SIDE_PROBE } from './probes.js';
import type { Stage } from './stage.js';

export function sharingScenarios(stage: () => Stage): void {
  it('shares the calls of an owner among its instances, each call handled once [bus.queue-groups, bus.request-reply, bus.instances-share-load]', async () => {
    const handled: Array<{ instance: number; number: unknown }> = [];
    for (const instance of [1, 2, 3]) {
      await stage().server((input) => void handled.push({ instance, number: (input as { number: unknown }).number }));
    }
    const bus = await stage().join();
    await Promise.all(Array.from({ length: 300 }, (_, number) => bus.call(PROBE, { number }, envelope())));
    expect(handled).toHaveLength(300);
    expect(new Set(handled.map((entry) => entry.number)).size).toBe(300);
    for (const instance of [1, 2, 3])
      expect(handled.filter((entry) => entry.instance === instance).length).toBeGreaterThan(30);
  });

  it('brings a call to the owner of its operation', async () => {
    await stage().server(() => 'graph');
    const identity = await stage().join();
    await identity.serve('identity', [IDENTITY_PROBE], async () => 'identity');
    const bus = await stage().join();
    expect(await bus.call(IDENTITY_PROBE, {}, envelope())).toBe('identity');
    expect(await bus.call(PROBE, {}, envelope())).toBe('graph');
  });

  it('brings a call only to instances that serve its operation, as while a new version is rolled out', async () => {
    await stage().server(() => 'old');
    const renewed = await stage().join();
    await renewed.serve('graph', [PROBE, SIDE_PROBE], async () => 'new');
    const bus = await stage().join();
    const answers = await Promise.all(Array.from({ length: 20 }, () => bus.call(SIDE_PROBE, {}, envelope())));
    expect(new Set(answers)).toEqual(new Set(['new']));
  });

  it('lets one party serve and call itself', async () => {
    const { bus } = await stage().server(() => 'self');
    expect(await bus.call(PROBE, {}, envelope())).toBe('self');
  });

  it('refuses to serve the operation of another owner, or one twice', async () => {
    const bus = await stage().join();
    const dispatch = async (): Promise<unknown> => 'never';
    await expect(bus.serve('graph', [IDENTITY_PROBE], dispatch)).rejects.toThrow('identity_probe belongs to identity');
    await expect(bus.serve('graph', [PROBE, PROBE], dispatch)).rejects.toThrow('probe is listed twice');
  });

  it('answers both of two calls at once under one id', async () => {
    const { bus } = await stage().server(async (input) => {
      await pause(50);
      return input;
    });
    const call = envelope();
    expect(
      await Promise.all([
        bus.call(PROBE, { n: 1 }, call),
        bus.call(PROBE, { n: 1 }, call),
        bus.call(PROBE, { n: 2 }, call),
      ]),
    ).toEqual([{ n: 1 }, { n: 1 }, { n: 2 }]);
  });

  it('never joins calls of different callers under one id', async () => {
    const { bus } = await stage().server(async (_input, context) => {
      await pause(50);
      return context.envelope.caller?.user_id;
    });
    const mine = envelope();
    const theirs = envelope({
      callId: mine.callId,
      caller: { user_id: 'u2', scope: 'read', credential_id: null, via: 'rest' },
    });
    expect(await Promise.all([bus.call(PROBE, {}, mine), bus.call(PROBE, {}, theirs)])).toEqual(['u1', 'u2']);
  });
}
