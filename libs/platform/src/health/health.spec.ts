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

  it('ends with the stop signal', async () => {
    const health = new Health(createLogger({ process: 'test', level: 'fatal' }));
    const before = await health.ready();
    health.stop();

    expect([before, await health.ready()]).toEqual([true, false]);
  });
});
