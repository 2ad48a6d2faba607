import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNode, listEvents, type Node } from '@workspace-graph/contracts';
import { descendantsOf, isRunning, listProcesses, type ProcessInfo } from '@workspace-graph/testing';
import { ownMountsAvailable, withMount } from './own-mounts.js';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const AT_ONCE = 6;
const STORY_MS = 3 * START_MS;
const MEANWHILE_MS = 400;
/** So many that each writer has a connection again. */
const MANY_WRITES = 10 * AT_ONCE;

/** Without the program that ties a server to its parent, a server outlives a parent that is killed; root can hide it. */
const whereServersOutlive = ownMountsAvailable() ? describe : describe.skip;

/** Writes as fast as it can until it is told to end; keeps what was acknowledged and how the rest was answered. */
class Writers implements AsyncDisposable {
  readonly acknowledged: string[] = [];
  readonly failures: string[] = [];
  private ended = false;
  private readonly done: Promise<unknown>;

  constructor(
    private readonly workspace: RunningWorkspace,
    private readonly nodeId: string,
  ) {
    this.done = Promise.all(Array.from({ length: AT_ONCE }, () => this.write()));
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.done;
  }

  /** Also where the test fails, which is to be told, and not that they go on. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  /** Resolves when another write is refused. */
  async refused(): Promise<void> {
    const before = this.failures.length;
    while (this.failures.length === before) await sleep(2);
  }

  /** The answer; null when there was none. */
  private async post(event: object): Promise<Response | null> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(event) };
    try {
      const response = await this.workspace.fetch(`/nodes/${this.nodeId}/events`, init);
      const text = await response.text();
      if (!response.ok)
        this.failures.push(`${response.status}, again in ${response.headers.get('retry-after')}: ${text}`);
      return response;
    } catch (error) {
      this.failures.push((error as Error).message);
      return null;
    }
  }

  private async write(): Promise<void> {
    while (!this.ended) {
      const content = `note ${Math.random()}`;
      const response = await this.post({ kind: 'note', content });
      if (response?.status === 201) this.acknowledged.push(content);
      else await sleep(20);
    }
  }
}

async function contents(workspace: RunningWorkspace, node_id: string): Promise<Set<string>> {
  const found = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: { content: string }[]; next_cursor: string | null } = await workspace.call(listEvents, {
      node_id,
      limit: 500,
      ...(cursor ? { cursor } : {}),
    });
    for (const event of page.items) found.add(event.content);
    cursor = page.next_cursor;
  }
  return found;
}

/** The database server of a workspace: the parent of its other database processes. */
const serverOf = (workspace: RunningWorkspace): ProcessInfo => processOf(workspace, / -D /);
/** Where that server keeps its data. */
const dataOf = (workspace: RunningWorkspace): string => / -D (\S+)/.exec(serverOf(workspace).command)?.[1] ?? '';
const serversOf = (dataFolder: string): ProcessInfo[] =>
  listProcesses().filter((entry) => entry.command.includes(dataFolder));
/** One of the connections of a workspace to its database. */
const connectionOf = (workspace: RunningWorkspace): ProcessInfo =>
  processOf(workspace, /workspace.*\[local\]|127\.0\.0\.1/);

function processOf(workspace: RunningWorkspace, command: RegExp): ProcessInfo {
  const found = descendantsOf(workspace.pid).find((entry) => command.test(entry.command));
  if (!found) throw new Error(`The workspace has no process such as ${command}`);
  return found;
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Kills each server that the workspace starts, for as long as it does. */
async function killServers(workspace: RunningWorkspace): Promise<void> {
  while (isRunning(workspace.pid)) {
    const server = descendantsOf(workspace.pid).find((entry) => / -D /.test(entry.command));
    if (server) killIfThere(server.pid);
    await sleep(20);
  }
}

async function fill(workspace: RunningWorkspace): Promise<{ nodeId: string; writers: Writers }> {
  const node: Node = await workspace.call(createNode, { type: 'organization', name: 'Kept' });
  const writers = new Writers(workspace, node.id);
  while (writers.acknowledged.length < 20) await sleep(5);
  return { nodeId: node.id, writers };
}

describe('a database server that is killed under a running workspace', () => {
  it(
    'is started again: requests are refused for a moment, told when to come back, and nothing is lost [graph.durability.kill-9, errors.service-unavailable]',
    async () => {
      await using folder = new WorkspaceFolder();
      const workspace = await folder.start();
      const { nodeId, writers } = await fill(workspace);
      await using _writing = writers;
      const dataFolder = dataOf(workspace);
      const url = readFileSync(join(folder.root, '.svc/database-url'), 'utf8');
      for (const _time of [1, 2]) {
        const killed = serverOf(workspace).pid;
        process.kill(killed, 'SIGKILL');
        await writers.refused();
        while (isRunning(killed) || !(await workspace.fetch('/health/ready')).ok) await sleep(20);
        const before = writers.acknowledged.length;
        while (writers.acknowledged.length < before + MANY_WRITES) await sleep(20);
      }
      await writers.end();
      for (const failure of writers.failures) expect(failure).toMatch(/^503, again in 1: .*"SERVICE_UNAVAILABLE"/s);
      expect(readFileSync(join(folder.root, '.svc/database-url'), 'utf8')).toBe(url);
      const kept = await contents(workspace, nodeId);
      expect(writers.acknowledged.filter((content) => !kept.has(content))).toEqual([]);
      expect(await workspace.stop()).toBe(0);
      expect(serversOf(dataFolder)).toEqual([]);
    },
    STORY_MS,
  );

  it(
    'again and again ends the workspace with a word on what to do, and the next start has everything that was acknowledged [graph.durability.kill-9]',
    async () => {
      await using folder = new WorkspaceFolder();
      let workspace = await folder.start();
      const { nodeId, writers } = await fill(workspace);
      await using _writing = writers;
      const ended = workspace.ended();
      const killing = killServers(workspace);
      expect(await ended).toBe(1);
      await Promise.all([killing, writers.end()]);
      expect(workspace.output).toContain('the database server ended repeatedly');
      expect(workspace.output).toMatch(/server\.log in that folder.*Start the workspace again/);

      workspace = await folder.start();
      const kept = await contents(workspace, nodeId);
      expect(writers.acknowledged.filter((content) => !kept.has(content))).toEqual([]);
    },
    STORY_MS,
  );

  it.each([
    ['stopped', (folder: WorkspaceFolder) => folder.svc(['stop'])],
    ['killed', (_folder: WorkspaceFolder, workspace: RunningWorkspace) => workspace.kill()],
  ])(
    'does not come back for a workspace that is %s in this moment, and the next start has everything [cli.stop.no-orphan, graph.durability.kill-9]',
    async (_how, end) => {
      await using folder = new WorkspaceFolder();
      let workspace = await folder.start();
      const { nodeId, writers } = await fill(workspace);
      await using _writing = writers;
      const dataFolder = dataOf(workspace);
      process.kill(serverOf(workspace).pid, 'SIGKILL');
      await writers.refused();
      await end(folder, workspace);
      await Promise.all([workspace.ended(), writers.end()]);
      while (serversOf(dataFolder).length > 0) await sleep(20);

      workspace = await folder.start();
      const kept = await contents(workspace, nodeId);
      expect(writers.acknowledged.filter((content) => !kept.has(content))).toEqual([]);
    },
    STORY_MS,
  );

  it(
    'in one of its connections recovers by itself: requests are refused for a moment, and nothing is lost [graph.durability.kill-9, errors.message.no-leak]',
    async () => {
      await using folder = new WorkspaceFolder();
      const workspace = await folder.start();
      const { nodeId, writers } = await fill(workspace);
      await using _writing = writers;
      process.kill(connectionOf(workspace).pid, 'SIGKILL');
      await sleep(MEANWHILE_MS);
      const before = writers.acknowledged.length;
      while (writers.acknowledged.length === before) await sleep(20);
      await writers.end();
      for (const failure of writers.failures) expect(failure).toMatch(/^503, again in 1: .*"SERVICE_UNAVAILABLE"/s);
      expect(writers.failures.join('')).not.toMatch(/postgres|SELECT|\/tmp/i);
      const kept = await contents(workspace, nodeId);
      expect(writers.acknowledged.filter((content) => !kept.has(content))).toEqual([]);
    },
    STORY_MS,
  );
});

whereServersOutlive('a database server that outlived its workspace', () => {
  it(
    'is ended by the next start, which has everything and leaves no server behind [cli.start.orphan-database-repaired, cli.stop.no-orphan]',
    async () => {
      const hidden = { from: '/dev/null', onto: realpathSync('/usr/bin/setpriv') };
      await using folder = new WorkspaceFolder({ before: withMount(hidden) });
      let workspace = await folder.start();
      const { nodeId, writers } = await fill(workspace);
      await using _writing = writers;
      const left = serverOf(workspace);
      await workspace.kill();
      await writers.end();
      await sleep(MEANWHILE_MS);
      expect(isRunning(left.pid)).toBe(true);

      workspace = await folder.start();
      expect(isRunning(left.pid)).toBe(false);
      const kept = await contents(workspace, nodeId);
      expect(writers.acknowledged.filter((content) => !kept.has(content))).toEqual([]);
      const dataFolder = dataOf(workspace);
      await workspace.stop();
      expect(serversOf(dataFolder)).toEqual([]);
    },
    STORY_MS,
  );
});
