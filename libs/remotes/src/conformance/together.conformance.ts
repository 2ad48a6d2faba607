import { RemoteFailure, type SmallContents } from '../port/index.js';
import type { Stage } from './stage.js';

const COUNT = 70;
const NOW = '2026-01-02T03:04:05.000Z';

/** Many small contents in one call. Backends that take them only one by one have nothing to show. */
export function togetherScenarios(stage: () => Stage): void {
  function each(what: string, work: (together: SmallContents) => Promise<void>): void {
    it(what, async () => {
      const { together } = stage().remote;
      if (together) await work(together);
    });
  }
  const content = (path: string, text: string) => ({ path, bytes: Buffer.from(text), modifiedAt: NOW });
  /** What became of each: `done`, or the reason. */
  const ends = (outcomes: readonly PromiseSettledResult<string>[]): string[] =>
    outcomes.map((outcome) => {
      if (outcome.status === 'fulfilled') return 'done';
      if (outcome.reason instanceof RemoteFailure) return outcome.reason.reason;
      throw outcome.reason;
    });

  each('writes them into new folders, each as `write` would, and reads them as they were', async (together) => {
    const paths = Array.from({ length: COUNT }, (_none, index) => `${index % 2 ? 'wip/deep' : 'wip'}/${index}.txt`);
    const outcomes = await together.write(paths.map((path) => content(path, path === 'wip/0.txt' ? '' : `at ${path}`)));
    const { remote, world } = stage();
    const revisions = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason));
    const entries = await Promise.all(paths.map((path) => remote.stat(path)));
    expect(entries.map((entry) => entry && 'revision' in entry && entry.revision)).toEqual(revisions);
    const [, second] = entries;
    if (remote.capabilities.keepsModified) expect(second).toMatchObject({ modifiedAt: NOW });
    const read = await together.read(paths.map((path) => ({ path, maxBytes: 100 })));
    expect(read.map((whole) => whole && Buffer.from(whole.bytes).toString())).toEqual(
      paths.map((path) => (path === 'wip/0.txt' ? '' : `at ${path}`)),
    );
    expect(read.map((whole) => whole?.file.revision)).toEqual(revisions);
    expect(await world.leftOvers()).toEqual([]);
  });

  each('overwrites nothing, and no twin of it, and writes the others', async (together) => {
    await stage().put('wip/taken.txt', 'first');
    await stage().put('wip/Twin.txt', 'first');
    const given = ['taken.txt', 'twin.txt', 'new.txt', 'NEW.txt', 'taken.txt/below'];
    const outcomes = await together.write(given.map((name) => content(`wip/${name}`, 'second')));
    expect(ends(outcomes)).toEqual(['exists', 'exists', 'done', 'exists', 'exists']);
    expect(await stage().textOf('wip/taken.txt')).toBe('first');
    expect(await stage().textOf('wip/new.txt')).toBe('second');
    expect(await stage().world.leftOvers()).toEqual([]);
  });

  each('refuses a name by itself', async (together) => {
    const outcomes = await together.write([content(`wip/${'x'.repeat(300)}`, 'one'), content('wip/a.txt', 'other')]);
    expect(ends(outcomes)).toEqual(['name_refused', 'done']);
  });

  each('reads nothing that is missing, larger than it may be, or no file', async (together) => {
    await stage().put('wip/a.txt', 'four');
    await stage().put('wip/large.txt', 'larger');
    const wanted = ['wip/a.txt', 'wip/large.txt', 'wip/none.txt', 'none/at/all.txt', 'wip'];
    const read = await together.read(wanted.map((path) => ({ path, maxBytes: 4 })));
    expect(read.map((whole) => whole && Buffer.from(whole.bytes).toString())).toEqual(['four', null, null, null, null]);
  });

  each('ends with its signal', async (together) => {
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(together.write([content('wip/a.txt', 'text')], { signal })).rejects.toBe(reason);
    await expect(together.read([{ path: 'wip/a.txt', maxBytes: 4 }], { signal })).rejects.toBe(reason);
  });
}
