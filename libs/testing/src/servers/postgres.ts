import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { makeFolder, removeFolder } from '../temp.js';
import { startChild, wrapCommand } from './child.js';
import { startContainer } from './containers.js';
import { startLocalServer } from './local-server.js';
import { howToInstall } from './missing.js';
import { findPostgresPrograms, type PostgresPrograms } from './postgres-binaries.js';
import { externalServer, type TestServer } from './server.js';
import { type ServerUser, unprivilegedUser } from './server-user.js';

export interface PostgresOptions {
  /** Syncs to disk as in production, for specs about crashes. Default false: fast, and nothing survives a power cut. */
  durable?: boolean;
  /** Never use the server named by SVC_TEST_DATABASE_URL: the spec will kill or configure it. */
  own?: boolean;
  /** Further settings, as in `postgresql.conf`. */
  settings?: Record<string, string>;
  /** Default 200. */
  maxConnections?: number;
  /** The major version that it must have. Default: any. */
  major?: number;
  /** How its data are laid out: arguments of `initdb`. Default: UTF-8, sorted by code points. */
  initdbArgs?: readonly string[];
}

/** Its `url` is that of a superuser and the database `postgres`. */
export type PostgresServer = TestServer;

const run = promisify(execFile);
const fastSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Hundreds of databases that live for seconds: nothing in them grows old, and few statements are worth compiling.
  autovacuum: 'off',
  jit: 'off',
};

interface Cluster {
  folder: string;
  dataFolder: string;
  programs: PostgresPrograms;
  user: ServerUser | undefined;
}

function urlOf(port: number): string {
  return `postgresql://postgres:test@127.0.0.1:${port}/postgres`;
}

function settingArgs(options: PostgresOptions): string[] {
  const settings: Record<string, string> = {
    max_connections: String(options.maxConnections ?? 200),
    ...(options.durable === true ? {} : fastSettings),
    ...options.settings,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** The server's user owns the data and the password's file; the run's folder stays ours. */
function prepareFolders(folder: string, user: ServerUser | undefined): { dataFolder: string; passwordFile: string } {
  const dataFolder = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  mkdirSync(dataFolder, { mode: 0o700 });
  writeFileSync(passwordFile, 'test', { mode: 0o600 });
  if (user !== undefined) for (const path of [dataFolder, passwordFile]) chownSync(path, user.uid, user.gid);
  return { dataFolder, passwordFile };
}

function defaultLayout(): readonly string[] {
  return ['-E', 'UTF8', `--locale=${process.platform === 'linux' ? 'C.UTF-8' : 'C'}`];
}

async function initialise(folder: string, programs: PostgresPrograms, layout = defaultLayout()): Promise<Cluster> {
  const user = unprivilegedUser();
  const { dataFolder, passwordFile } = prepareFolders(folder, user);
  const access = ['-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
  const initdbArgs = ['-D', dataFolder, ...access, ...layout, '--no-sync'];
  const [command, args] = wrapCommand({ binary: programs.initdb, args: initdbArgs, user });
  await run(command, args, { cwd: '/' });
  return { folder, dataFolder, programs, user };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  // The server may drop the line while it starts or ends; the query's own failure says so.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function startProgram(cluster: Cluster, options: PostgresOptions): Promise<PostgresServer> {
  const { folder, dataFolder, programs, user } = cluster;
  const own = ['-D', dataFolder, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
  const args = [...own, ...settingArgs(options), '-p'];
  const logFile = join(folder, 'postgres.log');
  return startLocalServer({
    name: 'PostgreSQL',
    folder,
    urlOf,
    launch: (port) => startChild({ binary: programs.postgres, args: [...args, `${port}`], logFile, user }),
    probe: (port) => answers(urlOf(port)),
    stopSignal: options.durable === true ? 'SIGINT' : 'SIGQUIT',
    readyWithinMs: 30_000,
    pauseMs: 20,
  });
}

function startInContainer(options: PostgresOptions): Promise<PostgresServer | undefined> {
  return startContainer({
    image: `postgres:${options.major ?? 18}-alpine`,
    innerPort: 5432,
    environment: { POSTGRES_PASSWORD: 'test', POSTGRES_INITDB_ARGS: options.initdbArgs?.join(' ') ?? '' },
    command: ['postgres', ...settingArgs(options)],
    // The image starts a first time to initialise itself.
    readyLog: /ready to accept connections/,
    readyLogTimes: 2,
    urlOf,
  });
}

/**
 * Starts a private PostgreSQL on a free loopback port, or answers the one named by SVC_TEST_DATABASE_URL.
 * @throws Error with the server's log when it does not start, or saying what to install where there is none
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const given = process.env['SVC_TEST_DATABASE_URL'];
  if (given !== undefined && options.own !== true && options.durable !== true)
    return externalServer(given, 'PostgreSQL');
  const folder = makeFolder({ onDisk: options.durable === true });
  try {
    const programs = findPostgresPrograms(folder, options.major);
    if (programs !== undefined)
      return await startProgram(await initialise(folder, programs, options.initdbArgs), options);
  } catch (error) {
    removeFolder(folder);
    throw error;
  }
  removeFolder(folder);
  const container = await startInContainer(options);
  if (container === undefined) throw new Error(howToInstall('PostgreSQL', options.major));
  return container;
}
