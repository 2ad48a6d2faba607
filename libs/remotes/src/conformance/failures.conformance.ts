import { bytesOf, failureOf, type Stage } from './stage.js';
import type { Exemptions } from './world.js';

const REASONS = ['forbidden', 'unavailable', 'full'] as const;

/** What a remote that refuses is told as; never as an absence. */
export function failureScenarios(stage: () => Stage, exempt: Exemptions): void {
  for (const reason of REASONS) {
    const why = exempt[reason];
    // biome-ignore lint/suspicious/noSkippedTests: an exemption, shown with its reason
    if (why !== undefined) it.skip(`${reason}: exempt, because ${why}`, () => undefined);
    else it(`tells ${reason}, and loses nothing [errors.remote-unavailable]`, () => tells(reason));
  }

  async function tells(reason: (typeof REASONS)[number]): Promise<void> {
    const { revision: expected } = await stage().put('a.txt', 'kept');
    const { remote, world } = stage();
    await world.break(reason);
    const large = Buffer.alloc(4 * 1_048_576, 'x').toString();
    const refused = [await failureOf(remote.write('b.txt', bytesOf(large), { expected: null }))];
    refused.push(await failureOf(remote.write('a.txt', bytesOf(large), { expected })));
    if (reason !== 'full') refused.push(await failureOf(remote.remove('a.txt', { expected })));
    if (reason === 'unavailable') {
      refused.push(await failureOf(remote.stat('a.txt')), await failureOf(remote.read('a.txt')));
      refused.push(await failureOf(stage().listed('')), await failureOf(stage().listed('none')));
    }
    expect(new Set(refused)).toEqual(new Set([reason]));
    await world.mend();
    expect([await stage().textOf('a.txt'), await stage().pathsIn('')]).toEqual(['kept', ['a.txt']]);
    expect(await world.leftOvers()).toEqual([]);
  }
}
