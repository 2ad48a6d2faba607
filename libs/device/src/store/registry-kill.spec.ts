import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { DeviceStore } from './device-store.js';

const KILLS = Number(process.env['SVC_REGISTRY_KILLS'] ?? 3);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-registry-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Lets a process write until it has told so many mirrors, kills it, and answers all that it told. */
async function writeAndKill(file: string, mirrors: number): Promise<string[]> {
  const child = spawn(
    process.execPath,
    [
      '--conditions=@workspace-graph/source',
      '--disable-warning=ExperimentalWarning',
      '--import',
      new URL('../testing/source-worker.mjs', import.meta.url).href,
      new URL('../testing/registry-writer.fixture.ts', import.meta.url).pathname,
      file,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  const told: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    told.push(line);
    if (told.length === mirrors) child.kill('SIGKILL');
  }
  const [, signal] = await exited;
  expect(signal).toBe('SIGKILL');
  return told;
}

describe('the registry of a device', () => {
  it('is whole after every kill of the process that writes it, with all that was told [mirrors.registry.kill-9]', async () => {
    const file = join(folder, 'sync.db');
    const told: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      told.push(...(await writeAndKill(file, 5 + kill * 7)));
      const store = DeviceStore.open(file);
      const mirrors = new Map(store.mirrors().map((row) => [row.nodeId, row.path]));
      for (const nodeId of told) {
        expect(mirrors.get(nodeId)).toBe(`/mirrors/${nodeId}`);
        expect(store.countFiles(nodeId).present).toBe(50);
      }
      // What was under way is there as a whole or not at all.
      for (const nodeId of mirrors.keys()) expect([0, 50]).toContain(store.countFiles(nodeId).present);
      store.close();
      const database = new DatabaseSync(file);
      expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
      expect(database.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
      database.close();
    }
    expect(told.length).toBeGreaterThanOrEqual(KILLS * 5);
  });
});
