import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Holder {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
}

const program = `
const { importSource } = await import(process.argv[1]);
const { startNats } = await importSource('servers/nats.ts');
const { startPostgres } = await importSource('servers/postgres.ts');
await Promise.all([startPostgres({ own: true }), startNats({ own: true })]);
process.stdout.write('up');
setInterval(() => undefined, 1000);
`;

/**
 * Another process, in a group of its own, that starts a PostgreSQL and a NATS and holds them.
 * @throws Error when it ended before they were up
 */
export async function startHolder(): Promise<Holder> {
  const importer = new URL('../../jest/import-source.mjs', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, importer], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const early = once(child, 'exit').then(() => {
    throw new Error('the holder ended before its servers were up');
  });
  await Promise.race([once(child.stdout, 'data'), early]);
  early.catch(() => undefined);
  return { pid: child.pid ?? 0, kill: (signal) => void child.kill(signal) };
}
