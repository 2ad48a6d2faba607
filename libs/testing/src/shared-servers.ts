import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ownServerPids } from './servers/child.js';
import { startPostgres } from './servers/postgres.js';
import { makeFolder, removeFolder, sweepAbandonedFolders } from './temp.js';

/** Environment variable by which the workers of one test run find the process that owns the run's servers. */
const keeperVariable = 'SVC_TEST_KEEPER';

interface Stoppable {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the run's PostgreSQL at the first request and answers its URL to every worker. */
export interface ServerKeeper {
  /** Ends what was started. */
  close(): Promise<void>;
}

let ownPostgres: Promise<Stoppable> | undefined;

function postgresOnce(): Promise<Stoppable> {
  ownPostgres ??= startPostgres();
  return ownPostgres;
}

function answer(socket: Socket, pidFile: string): void {
  socket.on('error', () => socket.destroy());
  const reply = (message: { url: string } | { error: string }): void => void socket.end(`${JSON.stringify(message)}\n`);
  const report = (server: Stoppable): void => {
    writePids(pidFile);
    reply({ url: server.url });
  };
  postgresOnce().then(report, (error: unknown) => reply({ error: String(error) }));
}

/** Workers read the file at any moment: it appears whole or not at all. */
function writePids(pidFile: string): void {
  const draft = `${pidFile}.draft`;
  writeFileSync(draft, JSON.stringify(ownServerPids()));
  renameSync(draft, pidFile);
}

function pidFileBeside(keeperPath: string): string {
  return join(dirname(keeperPath), 'server-pids');
}

/** What the workers of this test run share besides servers goes here, and with the run; undefined outside of one. */
export function testRunFolder(): string | undefined {
  const keeper = process.env[keeperVariable];
  return keeper === undefined || process.platform === 'win32' ? undefined : dirname(keeper);
}

/** Pids of the servers that the run's keeper owns: they are nobody's leak. */
export function sharedServerPids(): number[] {
  const keeper = process.env[keeperVariable];
  if (keeper === undefined || process.platform === 'win32') return [];
  const file = pidFileBeside(keeper);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as number[]) : [];
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}

/** Called once per test run, in the process that outlives the workers. */
export async function keepServers(): Promise<ServerKeeper> {
  sweepAbandonedFolders();
  const folder = makeFolder();
  const path =
    process.platform === 'win32' ? `\\\\.\\pipe\\workspace-graph-test-${process.pid}` : join(folder, 'keeper.sock');
  const server = createServer((socket) => answer(socket, join(folder, 'server-pids')));
  await listen(server, path);
  server.unref();
  process.env[keeperVariable] = path;
  return {
    close: async () => {
      server.close();
      // A start that failed was told to whoever asked; there is nothing to end.
      const started = await ownPostgres?.catch(() => undefined);
      ownPostgres = undefined;
      await started?.stop();
      removeFolder(folder);
      delete process.env[keeperVariable];
    },
  };
}

function askKeeper(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once('error', reject);
    createInterface({ input: socket }).once('line', (line) => {
      const message = JSON.parse(line) as { url?: string; error?: string };
      if (message.url === undefined) reject(new Error(message.error));
      else resolve(message.url);
    });
  });
}

/**
 * URL of the one PostgreSQL that all specs of a test run share; started by whoever asks first. Keep to databases
 * of your own in it (`createTestDatabase`). Outside a test run, this process starts it and ends it when it exits.
 */
export async function sharedPostgresUrl(): Promise<string> {
  const keeper = process.env[keeperVariable];
  return keeper === undefined ? (await postgresOnce()).url : askKeeper(keeper);
}
