import { bytesOf, failureOf, type Stage } from './stage.js';
import type { NetworkFaults } from './world.js';

const LARGE = Buffer.alloc(4 * 1_048_576, 'content of a large file ').toString();
const CUT_BYTES = 1_048_576;
const FILES = 200;

/** What a network does that breaks off, or that takes its time. */
export function networkScenarios(stage: () => Stage): void {
  const faults = (): NetworkFaults => {
    const { network } = stage().world;
    if (!network) throw new Error('There is no network between this remote and its server');
    return network;
  };

  it('takes no content for whole that was cut short', async () => {
    await stage().put('a.txt', LARGE);
    await faults().cut({ direction: 'down', bytes: CUT_BYTES });
    expect(await failureOf(stage().textOf('a.txt'))).toBe('unavailable');
    await stage().world.mend();
    expect(await stage().textOf('a.txt')).toBe(LARGE);
  });

  it('shows nothing of a content that was cut short, and takes it again', async () => {
    await faults().cut({ direction: 'up', bytes: CUT_BYTES });
    expect(await failureOf(stage().put('wip/a.txt', LARGE))).toBe('unavailable');
    await stage().world.mend();
    expect(await stage().remote.stat('wip/a.txt')).toBeNull();
    await stage().put('wip/a.txt', LARGE);
    expect(await stage().pathsIn('wip')).toEqual(['wip/a.txt']);
  });

  it('keeps the old content when the new one is cut short', async () => {
    const { revision } = await stage().put('a.txt', 'old');
    await faults().cut({ direction: 'up', bytes: CUT_BYTES });
    expect(await failureOf(stage().put('a.txt', LARGE, revision))).toBe('unavailable');
    await stage().world.mend();
    expect(await stage().textOf('a.txt')).toBe('old');
    await stage().put('a.txt', 'new', revision);
  });

  it('takes no listing for whole that was cut short [sync.sweep.failed-listing-is-error]', async () => {
    for (let number = 0; number < FILES; number += 1) await stage().world.plant(`many/${number}.txt`, 'x');
    expect(await stage().pathsIn('many')).toHaveLength(FILES);
    await faults().cut({ direction: 'down', bytes: 4_000 });
    expect(await failureOf(stage().listed('many'))).toBe('unavailable');
    await stage().world.mend();
    expect(await stage().pathsIn('many')).toHaveLength(FILES);
  });

  it('goes on over a slow network', async () => {
    const content = LARGE.slice(0, 300_000);
    await faults().slow(500_000);
    await stage().remote.write('a.txt', bytesOf(content), { expected: null });
    expect(await stage().textOf('a.txt')).toBe(content);
  });

  it('ends a call at once by its signal while the network stalls', async () => {
    await stage().put('a.txt', 'old');
    await faults().slow(1);
    const controller = new AbortController();
    const reason = new Error('enough');
    const told = stage().remote.stat('a.txt', { signal: controller.signal });
    controller.abort(reason);
    await expect(told).rejects.toBe(reason);
  });
}
