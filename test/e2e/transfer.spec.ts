import { once } from 'node:events';
import { closeSync, createWriteStream, existsSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { whoami } from '@workspace-graph/contracts';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const DOCUMENT_BYTES = 50_000_000;
/** Close to the longest text, in a script of three bytes a letter. */
const TEXT = 'これは何のためにあり、誰が責任を持つか。 '.repeat(900);
const MEBIBYTE = 1_048_576;
const [COMMAND_MOST_MB, WORKSPACE_MOST_MB] = [300, 1_200];

const onFullDisk = existsSync('/dev/full') ? it : it.skip;

const folder = new WorkspaceFolder({ isStarted: true });
const file = join(folder.root, 'large.json');
let workspace: RunningWorkspace;
let nodes = 0;

beforeAll(async () => {
  workspace = await folder.start();
  nodes = await writeDocument(file);
}, START_MS);
afterAll(() => folder[Symbol.asyncDispose]());

/** A document of 50 MB, which is mostly what people write. Answers how many nodes it has. */
async function writeDocument(path: string): Promise<number> {
  const target = createWriteStream(path);
  target.write('{"format":"workspace-graph/1","nodes":[{"key":"o","type":"organization","name":"Large"}');
  const count = Math.ceil(DOCUMENT_BYTES / Buffer.byteLength(TEXT));
  for (let index = 0; index < count; index += 1) {
    const node = { key: `p${index}`, type: 'project', name: `Part ${index}`, organization: 'o', description: TEXT };
    if (!target.write(`,${JSON.stringify(node)}`)) await once(target, 'drain');
  }
  target.end(']}');
  await once(target, 'close');
  return count + 1;
}

/** The most memory that a process has held so far; 0 where the system does not tell. */
function mostMemoryMb(pid: number): number {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) return 0;
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8')) ?? [];
  return (Number(kilobytes ?? 0) * 1_024) / MEBIBYTE;
}

describe('a document of 50 MB', () => {
  it('is imported without being held whole by the command, while the workspace answers others [graph.import.one-transaction, cli.import-export]', async () => {
    expect(statSync(file).size).toBeGreaterThan(DOCUMENT_BYTES);
    const child = folder.spawn(['import', file], {
      env: folder.environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [output, notes, commandMb, slowestMs] = ['', '', 0, 0];
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (notes += chunk.toString()));
    const closed = once(child, 'close');
    while (child.exitCode === null) {
      commandMb = Math.max(commandMb, mostMemoryMb(child.pid ?? 0));
      const askedMs = performance.now();
      await workspace.call(whoami, {});
      slowestMs = Math.max(slowestMs, performance.now() - askedMs);
      await sleep(20);
    }
    await closed;
    expect(child.exitCode).toBe(0);
    expect(notes).toMatch(/\d MB sent/);
    expect(output).toContain(`nodes: ${nodes} new`);
    const workspaceMb = mostMemoryMb(workspace.pid);
    process.stderr.write(
      `import of 50 MB: command ${commandMb.toFixed()} MB, workspace ${workspaceMb.toFixed()} MB, slowest other answer ${slowestMs.toFixed()} ms\n`,
    );
    expect(commandMb).toBeLessThan(COMMAND_MOST_MB);
    expect(workspaceMb).toBeLessThan(WORKSPACE_MOST_MB);
  }, 300_000);

  it('is exported to a reader that stops early, without a word of a crash [cli.import-export, cli.exit-codes]', async () => {
    const child = folder.spawn(['export', '-'], { env: folder.environment(), stdio: ['ignore', 'pipe', 'pipe'] });
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const closed = once(child, 'close') as Promise<[number | null]>;
    child.stdout?.once('data', () => child.stdout?.destroy());
    const [code] = await closed;
    expect([code, errors]).toEqual([1, '']);
    expect(mostMemoryMb(workspace.pid)).toBeLessThan(WORKSPACE_MOST_MB);
  });

  onFullDisk('is exported onto a full disk, which is said once and is no fault of the command', async () => {
    const full = openSync('/dev/full', 'w');
    const child = folder.spawn(['export', '-'], { env: folder.environment(), stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect([code, errors]).toEqual([1, expect.stringMatching(/^svc: the output cannot be written: ENOSPC.*\n$/)]);
  });

  it('is exported to a reader that is slow, in little memory', async () => {
    const child = folder.spawn(['export', '-'], { env: folder.environment(), stdio: ['ignore', 'pipe', 'inherit'] });
    let [bytes, commandMb] = [0, 0];
    const closed = once(child, 'close');
    await sleep(1_500);
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (child.exitCode === null) commandMb = Math.max(commandMb, mostMemoryMb(child.pid ?? 0));
    }
    expect((await closed)[0]).toBe(0);
    process.stderr.write(`export of ${(bytes / MEBIBYTE).toFixed()} MB: command ${commandMb.toFixed()} MB\n`);
    expect(bytes).toBeGreaterThan(DOCUMENT_BYTES);
    expect(commandMb).toBeLessThan(COMMAND_MOST_MB);
    rmSync(file);
  });
});
