import { realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNode, listEvents, logEvent, type Node } from '@workspace-graph/contracts';
import { descendantsOf, isRunning, listProcesses, type ProcessInfo } from '@workspace-graph/testing';
import { ownMountsAvailable, withMount } from './own-mounts.js';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const AT_ONCE = 6;
const STORY_MS = 3 * START_MS;
const MEANWHILE_MS = 400;

/** Without the program that ties a server to its parent, a server outlives a parent that is killed; root can hide it. */
const whereServersOutlive = ownMountsAvailable() ? describe : describe.skip;

/** Writes as fast as it can until it is told to end; keeps what was acknowledged and how the rest was answered. */
class Writers {
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

  private async write(): Promise<void> {
    while (!this.ended) {
      const input = { node_id: this.nodeId, kind: 'note' as const, content: `note ${Math.random()}` };
      const written = await this.workspace.call(logEvent, input).catch((error: Error) => {
        this.failures.push(error.message);
        return sleep(20, null);
      });
      if (written) this.acknowledged.push(written.content);
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
/** One of the connections of a workspace to its database. */
const connectionOf = (workspace: RunningWorkspace): ProcessInfo =>
  processOf(workspace, /workspace.*\[local\]|127\.0\.0\.1/);

function processOf(workspace: RunningWorkspace, command: RegExp): ProcessInfo {
  const found = descendantsOf(workspace.pid).find((entry) => command.test(entry.command));
  if (!found) throw new Error(`The workspace has no process such as ${command}`);
  return found;
}

async function fill(workspace: RunningWorkspace): Promise<{ nodeId: string; writers: Writers }> {
  const node: Node = await workspace.call(createNode, { type: 'organization', name: 'Kept' });
  const writers = new Writers(workspace, node.id);
  while (writers.acknowledged.length < 20) await sleep(5);
  return { nodeId: node.id, writers };
}

describe('a database server that is killed under a running workspace', () => {
  it(
    'ends the workspace with a word on what to do, and the next start has everything that was acknowledged [graph.durability.kill-9]',
    async () => {
      await using folder = new WorkspaceFolder();
      let workspace = await folder.start();
      const { nodeId, writers } = await fill(workspace);
      process.kill(serverOf(workspace).pid, 'SIGKILL');
      expect(await workspace.ended()).toBe(1);
      await writers.end();
      expect(workspace.output).toContain('the database server ended');
      expect(workspace.output).toContain('Start the workspace again');

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
      process.kill(connectionOf(workspace).pid, 'SIGKILL');
      await sleep(MEANWHILE_MS);
      const before = writers.acknowledged.length;
      while (writers.acknowledged.length === before) await sleep(20);
      await writers.end();
      for (const failure of writers.failures) expect(failure).toMatch(/^log: 503 .*"SERVICE_UNAVAILABLE"/s);
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
      const left = serverOf(workspace);
      await workspace.kill();
      await writers.end();
      await sleep(MEANWHILE_MS);
      expect(isRunning(left.pid)).toBe(true);

      workspace = await folder.start();
      expect(isRunning(left.pid)).toBe(false);
      const kept = await contents(workspace, nodeId);
      expect(writers.acknowledged.filter((content) => !kept.has(content))).toEqual([]);
      const [, dataFolder = ''] = / -D (\S+)/.exec(serverOf(workspace).command) ?? [];
      await workspace.stop();
      expect(listProcesses().filter((entry) => entry.command.includes(dataFolder))).toEqual([]);
    },
    STORY_MS,
  );
});
