import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Underway, UnderwayByKey } from './underway.js';

const run = promisify(execFile);

/**
 * Eight callers at once, each answer a new text of 30 kB: megabytes that the old generation has grown by, and collections
 * of the whole heap meanwhile. In a process of its own, whose heap holds nothing else.
 */
const CALLS = `
  import { PerformanceObserver } from 'node:perf_hooks';
  import { getHeapSpaceStatistics } from 'node:v8';
  import { InProcessBus } from '@workspace-graph/bus';
  import { listNodes } from '@workspace-graph/contracts';
  let whole = 0;
  const MAJOR = 4;
  new PerformanceObserver((list) => (whole += list.getEntries().filter(({ detail }) => detail.kind === MAJOR).length)).observe({ entryTypes: ['gc'] });
  const quiet = () => undefined;
  const bus = new InProcessBus({ logger: { error: quiet, warn: quiet, info: quiet, debug: quiet } });
  const text = Buffer.from('Městský sklad '.repeat(2_000));
  let served = 0;
  await bus.serve('graph', [listNodes], async () => {
    served += 1;
    await new Promise((resolve) => setTimeout(resolve, served % 4));
    return { text: text.toString() };
  });
  const caller = { user_id: '0190a5f0-0000-7000-8000-000000000001', scope: 'read', credential_id: null, via: 'rest' };
  const turn = () => new Promise((resolve) => setTimeout(resolve));
  const oldMb = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size / 1e6;
  const calls = (each) => Promise.all(Array.from({ length: 8 }, async (_, who) => {
    for (let call = 0; call < each; call++) await bus.call(listNodes, {}, { callId: [who, each, call].join('-'), requestId: 'r', caller });
  }));
  await calls(50);
  gc();
  await turn();
  const before = oldMb();
  whole = 0;
  await calls(400);
  await turn();
  console.log(JSON.stringify({ grownMb: oldMb() - before, whole }));
  await bus.close();
`;

describe('what is under way', () => {
  it('lets go of each that has ended, in any order and once', () => {
    const underway = new Underway<string>();
    const [leaveA, leaveB, leaveC] = ['a', 'b', 'c'].map((item) => underway.add(item));
    leaveB?.();
    leaveB?.();
    expect([...underway].toSorted()).toEqual(['a', 'c']);
    expect(underway.has('b')).toBe(false);
    leaveC?.();
    expect([underway.size, ...underway]).toEqual([1, 'a']);
    const leaveD = underway.add('d');
    leaveA?.();
    expect([underway.size, ...underway]).toEqual([1, 'd']);
    leaveD();
    expect(underway.size).toBe(0);
  });

  it('can end while it is gone through', () => {
    const underway = new Underway<() => void>();
    const ended: number[] = [];
    for (const place of [1, 2, 3]) {
      const leave = underway.add(() => {
        leave();
        ended.push(place);
      });
    }
    for (const end of underway) end();
    expect([underway.size, ...ended.toSorted()]).toEqual([0, 1, 2, 3]);
  });

  it('is found by its key until it ends, and the latest of two', () => {
    const underway = new UnderwayByKey<string, number>();
    underway.set('a', 1);
    underway.set('b', 2);
    underway.set('a', 3);
    expect([underway.get('a'), underway.size, ...underway.values().toSorted()]).toEqual([3, 2, 2, 3]);
    underway.delete('a');
    underway.delete('a');
    expect([underway.get('a'), underway.size]).toEqual([undefined, 1]);
    underway.clear();
    expect([underway.size, ...underway.values()]).toEqual([0]);
  });

  it('leaves nothing of its answers for a collection of the whole heap', async () => {
    const args = ['--expose-gc', '--input-type=module', '--eval', CALLS];
    const { stdout } = await run(process.execPath, args, { cwd: join(import.meta.dirname, '..') });
    const { grownMb, whole } = JSON.parse(stdout) as { grownMb: number; whole: number };
    expect(whole).toBe(0);
    expect(grownMb).toBeLessThan(4);
  });
});
