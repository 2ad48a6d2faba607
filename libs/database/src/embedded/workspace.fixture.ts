import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { EmbeddedDatabaseOptions } from './embedded-database.js';
import type { EmbeddedErrorCode } from './embedded-error.js';
import { identityOf, type ServerUser } from './server-user.js';

/** Another process that holds an embedded database, as a workspace does. */
export interface Workspace {
  readonly pid: number;
  readonly serverPid: number;
  readonly url: string;
  readonly dataFolder: string;
  readonly phases: string[];
  /** Sends a signal to the process, or with a minus to its whole group, as a terminal does. */
  signal(name: NodeJS.Signals, group?: boolean): Promise<void>;
}

export interface WorkspaceOptions extends Pick<EmbeddedDatabaseOptions, 'folder' | 'elsewhere' | 'port'> {
  readonly user?: ServerUser;
  /** What the process takes for its processor. */
  readonly arch?: string;
}

interface Report {
  readonly phase?: string;
  readonly ready?: { pid: number; url: string; dataFolder: string };
  readonly failed?: { code: EmbeddedErrorCode; message: string };
}

/** The start was refused in the other process. */
export class WorkspaceRefused extends Error {
  readonly code: EmbeddedErrorCode;

  constructor(code: EmbeddedErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const program = `
const [importer, given] = process.argv.slice(1);
const { arch, ...options } = JSON.parse(given);
if (arch !== undefined) Object.defineProperty(process, 'arch', { value: arch });
const { importSource } = await import(importer);
const { startEmbeddedDatabase } = await importSource('embedded/embedded-database.ts');
const tell = (report) => process.stdout.write(JSON.stringify(report) + '\\n');
try {
  const database = await startEmbeddedDatabase({ ...options, onProgress: ({ phase }) => tell({ phase }) });
  process.on('SIGINT', () => setTimeout(() => database.stop().then(() => process.exit(database.unasked ? 1 : 0)), 200));
  database.endedUnasked.then(() => { database.unasked = true; });
  tell({ ready: { pid: database.pid, url: database.url, dataFolder: database.dataFolder } });
} catch (error) {
  if (error.code === undefined) throw error;
  tell({ failed: { code: error.code, message: error.message } });
}
`;

/**
 * Starts an embedded database in a process of its own, in a group of its own.
 * @throws WorkspaceRefused with the other process's error
 */
export async function startWorkspace({ user, ...options }: WorkspaceOptions): Promise<Workspace> {
  const importer = new URL('import-source.fixture.mjs', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, importer, JSON.stringify(options)], {
    ...identityOf(user),
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
  const exited = once(child, 'exit');
  const phases: string[] = [];
  const pid = child.pid ?? 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const report = JSON.parse(line) as Report;
    if (report.phase !== undefined) phases.push(report.phase);
    if (report.failed !== undefined) throw new WorkspaceRefused(report.failed.code, report.failed.message);
    if (report.ready === undefined) continue;
    const signal = async (name: NodeJS.Signals, group = false): Promise<void> => {
      process.kill(group ? -pid : pid, name);
      const [code] = (await exited) as [number | null];
      if (code !== null && code !== 0) throw new Error(`the server ended before the workspace stopped it (${code})`);
    };
    return {
      pid,
      serverPid: report.ready.pid,
      url: report.ready.url,
      dataFolder: report.ready.dataFolder,
      phases,
      signal,
    };
  }
  throw new Error('the workspace ended before its database was ready');
}
