import { createLogger } from '../logging/index.js';
import { Health } from './health.js';

const AFTER_MAX_AGE_MS = 300;

describe('readiness', () => {
  it('follows its dependencies down and up again, and names the failing one in the log only [edge.health.ready-follows-dependencies]', async () => {
    const lines: string[] = [];
    let isUp = true;
    const health = new Health(
      createLogger({ process: 'test', level: 'info', sink: { write: (line) => void lines.push(line) } }),
    );
    health.add('database', () => (isUp ? Promise.resolve() : Promise.reject(new Error('refused'))));
    health.add('bus', () => true);

    const answers = [await health.ready()];
    for (const state of [false, true]) {
      isUp = state;
      await new Promise((resolve) => setTimeout(resolve, AFTER_MAX_AGE_MS));
      answers.push(await health.ready());
    }

    expect(answers).toEqual([true, false, true]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', check: 'database', err: { message: 'refused' } },
      { level: 'info', check: 'database' },
    ]);
  });

  it('asks the dependencies once for many who ask', async () => {
    let asked = 0;
    const health = new Health(createLogger({ process: 'test', level: 'fatal' }));
    health.add('database', () => ++asked > 0);

    await Promise.all(Array.from({ length: 100 }, () => health.ready()));

    expect(asked).toBe(1);
  });

  it('tells who follows a dependency when its answer changes, whoever asked', async () => {
    let isUp = true;
    const health = new Health(createLogger({ process: 'test', level: 'fatal' }));
    health.add('database', () => isUp);
    const told: boolean[] = [];
    const end = health.follow('database', (usable) => void told.push(usable));
    isUp = false;
    expect(await health.isUsable('database')).toBe(false);
    expect(told).toEqual([false]);
    isUp = true;
    while (told.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    end();
    isUp = false;
    await health.isUsable('database');
    expect(told).toEqual([false, true]);
  });

  it('answers many who ask how it is now with one more look than is under way', async () => {
    const looks: PromiseWithResolvers<boolean>[] = [];
    const health = new Health(createLogger({ process: 'test', level: 'fatal' }));
    health.add('database', () => {
      const look = Promise.withResolvers<boolean>();
      looks.push(look);
      return look.promise;
    });
    const before = health.isUsable('database');
    const after = Array.from({ length: 100 }, () => health.isUsable('database'));
    looks[0]?.resolve(true);
    expect(await before).toBe(true);
    while (looks.length < 2) await new Promise(setImmediate);
    looks[1]?.resolve(false);
    expect(new Set(await Promise.all(after))).toEqual(new Set([false]));
    expect(looks).toHaveLength(2);
  });

  it('ends with the stop signal', async () => {
    const health = new Health(createLogger({ process: 'test', level: 'fatal' }));
    const before = await health.ready();
    health.stop();

    expect([before, await health.ready()]).toEqual([true, false]);
  });
});
