import { createLogger } from '../logging/index.js';
import { Shutdown } from './shutdown.js';

function start(graceMs: number, announceMs = 0) {
  const lines: string[] = [];
  const exits: number[] = [];
  const logger = createLogger({ process: 'test', level: 'info', sink: { write: (line) => void lines.push(line) } });
  const shutdown = new Shutdown({ graceMs, announceMs, logger, exit: (code) => void exits.push(code) });
  return { shutdown, exits, lines };
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('stopping', () => {
  it('runs the phases in order, whatever the order they were added in [edge.shutdown.graceful]', async () => {
    const { shutdown } = start(1_000);
    const done: string[] = [];
    shutdown.add('stores', 'database', () => void done.push('database'));
    shutdown.add('bus', 'bus', () => void done.push('bus'));
    shutdown.add('drain', 'requests', async () => {
      await later(20);
      done.push('requests');
    });
    shutdown.add('refuse', 'edge', () => void done.push(`edge, stopping: ${shutdown.stopping}`));

    await expect(shutdown.begin('test')).resolves.toBe(true);
    expect(done).toEqual(['edge, stopping: true', 'requests', 'bus', 'database']);
  });

  it('announces that it leaves before it refuses anything, and the grace begins after that [edge.shutdown.announced]', async () => {
    const { shutdown } = start(1_000, 5_000);
    const announced = Promise.withResolvers<void>();
    const done: string[] = [];
    const note = (step: string) => () => void done.push(`${step}: ${shutdown.leaving} ${shutdown.stopping}`);
    shutdown.add('announce', 'readiness', note('readiness'));
    shutdown.add('announce', 'balancers', () => announced.promise.then(note('balancers')));
    shutdown.add('refuse', 'edge', note('edge'));
    note('before')();
    const ending = shutdown.begin('test');
    note('meanwhile')();
    // Longer than the grace.
    await later(1_100);
    announced.resolve();

    await expect(ending).resolves.toBe(true);
    expect(done).toEqual([
      'before: false false',
      'readiness: true false',
      'meanwhile: true false',
      'balancers: true false',
      'edge: true true',
    ]);
  });

  it('does not wait for who would look elsewhere after an error that nobody caught', async () => {
    const { shutdown, exits } = start(1_000, 600_000);
    const done: string[] = [];
    shutdown.add('announce', 'readiness', () => void done.push('readiness'));
    shutdown.add('announce', 'balancers', () => new Promise(() => undefined));
    const stopListening = shutdown.listen();

    process.emit('uncaughtException', new Error('surprise'));
    while (exits.length === 0) await later(10);
    stopListening();

    expect([done, exits]).toEqual([['readiness'], [1]]);
  });

  it('does not wait beyond the grace, and closes the rest nevertheless [edge.shutdown.graceful]', async () => {
    const { shutdown, lines } = start(50);
    const done: string[] = [];
    shutdown.add('drain', 'endless', () => new Promise(() => undefined));
    shutdown.add('stores', 'database', () => void done.push('database'));
    const startedAtMs = performance.now();

    await expect(shutdown.begin('test')).resolves.toBe(false);

    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    expect(done).toEqual(['database']);
    expect(lines.join()).toContain('"step":"endless"');
  });

  it('goes on when a step fails, and says so', async () => {
    const { shutdown, lines } = start(1_000);
    const done: string[] = [];
    shutdown.add('drain', 'broken', () => {
      throw new Error('no');
    });
    shutdown.add('stores', 'database', () => void done.push('database'));

    await expect(shutdown.begin('test')).resolves.toBe(false);
    expect(done).toEqual(['database']);
    expect(lines.join()).toContain('"step":"broken"');
  });

  it('begins with a signal, takes its echo for the same one, and ends at once on a later second signal', async () => {
    const { shutdown, exits } = start(10_000);
    const { promise: slow, resolve: finish } = Promise.withResolvers<void>();
    shutdown.add('drain', 'slow', () => slow);
    const stopListening = shutdown.listen();

    process.emit('SIGTERM', 'SIGTERM');
    await later(10);
    process.emit('SIGTERM', 'SIGTERM');
    await later(10);
    const afterEcho = [...exits];
    await later(600);
    process.emit('SIGINT', 'SIGINT');
    await later(10);
    const afterSecond = [...exits];
    finish();
    await later(10);
    stopListening();

    expect(afterEcho).toEqual([]);
    expect(afterSecond).toEqual([130]);
    expect(exits).toEqual([130, 0]);
  });

  it('begins with an error that nobody caught, which the log shows', async () => {
    const { shutdown, exits, lines } = start(1_000);
    const stopListening = shutdown.listen();

    process.emit('uncaughtException', new Error('surprise'));
    await later(20);
    stopListening();

    expect(exits).toEqual([1]);
    expect(lines.join()).toContain('surprise');
  });

  it('leaves out a step that was taken back', async () => {
    const { shutdown } = start(1_000);
    const done: string[] = [];
    const takeBack = shutdown.add('drain', 'gone', () => void done.push('gone'));
    takeBack();

    await shutdown.begin('test');
    expect(done).toEqual([]);
  });
});
