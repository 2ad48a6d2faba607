import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createMirror,
  getNode,
  getSyncHealth,
  listFiles,
  listNodes,
  type OutputOf,
  search,
  type TrackedFile,
} from '@workspace-graph/contracts';
import { hashesBelow, type SampleFiles, sampleFiles, sectionOf } from './sample-files.js';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const folder = new WorkspaceFolder({ onDisk: true, isStarted: true });
let workspace: RunningWorkspace;
let sample: SampleFiles;
/** Mirrors by the key of their node. */
const mirrors = new Map<string, OutputOf<typeof createMirror>>();

beforeAll(async () => {
  sample = await sampleFiles();
  workspace = await folder.start();
  expect(await folder.svc(['import', sample.document, '--json'])).toMatchObject({ code: 0 });
  for (const key of sample.folders.keys()) {
    const name = sample.names.get(key) ?? '';
    const { items } = await workspace.call(listNodes, { query: name, limit: 500 });
    const node = items.find((item) => item.name === name && item.type !== 'project');
    if (!node) throw new Error(`The node ${key} was not imported`);
    mirrors.set(key, await workspace.call(createMirror, { node_id: node.id }));
  }
}, START_MS);
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
  rmSync(sample.temporary, { recursive: true, force: true });
});

async function tracked(nodeId?: string): Promise<TrackedFile[]> {
  const files: TrackedFile[] = [];
  let cursor: string | undefined;
  do {
    const page = await workspace.call(listFiles, {
      limit: 2_000,
      ...(nodeId ? { node_id: nodeId } : {}),
      ...(cursor ? { cursor } : {}),
    });
    files.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return files;
}

/** What the disk holds in all mirrors, and what the workspace says of it. */
async function bothSides(): Promise<{ disk: Map<string, string>; graph: Map<string, string> }> {
  const disk = new Map<string, string>();
  for (const { node_id, local_path } of mirrors.values()) {
    for (const section of ['wip', 'outputs', 'resources'])
      for (const [path, hash] of hashesBelow(join(local_path ?? '', section)))
        disk.set(`${node_id} ${section}/${path}`, hash);
  }
  const files = await tracked();
  const graph = new Map(files.map((file) => [`${file.node_id} ${file.path}`, file.sha256 ?? '']));
  expect(graph.size).toBe(files.length);
  return { disk, graph };
}

/** Waits until the workspace says what the disk holds. */
async function agree(withinMs = 60_000): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const { disk, graph } = await bothSides();
    const same = disk.size === graph.size && [...disk].every(([path, hash]) => graph.get(path) === hash);
    if (same) return;
    if (Date.now() > deadlineMs) return expect(graph).toEqual(disk);
    await sleep(200);
  }
}

describe('files in the folders of a local workspace', () => {
  it('are taken in while they are copied there, each once and none with a failure [watcher.registers-new-file, watcher.new-mirrors, watcher.settled, files.record.status-by-section]', async () => {
    let copied = 0;
    for (const [key, mirror] of mirrors) {
      const source = sample.folders.get(key) ?? '';
      copied += hashesBelow(source).size;
      cpSync(source, join(mirror.local_path ?? '', sectionOf(key)), { recursive: true });
    }
    expect(copied).toBeGreaterThan(500);
    await agree();
    const files = await tracked();
    expect(files).toHaveLength(copied);
    expect(
      files.filter(({ section, status }) => ({ wip: 'wip', outputs: 'output', resources: null })[section] !== status),
    ).toEqual([]);
    expect(await workspace.call(getSyncHealth, {})).toMatchObject({ watching: true, failures: [], files: copied });
  });

  it('that change while the workspace is off, or is killed, are found at its start and keep their ids [watcher.catches-up, watcher.move-same-record, mirrors.registry.kill-9]', async () => {
    const [first] = mirrors.values();
    const before = await tracked(first?.node_id);
    const root = first?.local_path ?? '';
    await workspace.kill();
    const [moved, edited, deleted] = before;
    if (!moved || !edited || !deleted) throw new Error('the first node has files');
    renameSync(join(root, moved.path), join(root, 'outputs', 'moved while away.md'));
    writeFileSync(join(root, edited.path), 'edited while away');
    rmSync(join(root, deleted.path));
    workspace = await folder.start();
    await agree();
    const after = await tracked(first?.node_id);
    expect(after.find(({ path }) => path === 'outputs/moved while away.md')?.id).toBe(moved.id);
    expect(after.find(({ path }) => path === edited.path)?.id).toBe(edited.id);
    expect(after.map(({ id }) => id)).not.toContain(deleted.id);
    expect(await workspace.call(getSyncHealth, {})).toMatchObject({ failures: [] });
  });

  it('follow the renaming of their folder and an edit, with the same ids [watcher.rehashes-edit, watcher.move-same-record]', async () => {
    const [mirror] = [...mirrors.values()].slice(1);
    const root = mirror?.local_path ?? '';
    const before = await tracked(mirror?.node_id);
    const section = before[0]?.section ?? 'wip';
    renameSync(join(root, section), join(root, 'aside'));
    renameSync(join(root, 'aside'), join(root, section));
    const ids = new Set(before.map(({ id }) => id));
    writeFileSync(join(root, section, 'new.md'), 'fresh');
    await agree();
    const after = await tracked(mirror?.node_id);
    expect(after.filter(({ id }) => !ids.has(id)).map(({ path }) => path)).toEqual([`${section}/new.md`]);
    expect(after).toHaveLength(before.length + 1);
  });

  it('are made, read and searched for by the path and the name of their node [graph.node.named-by-reference, graph.search.every-kind]', async () => {
    const [mirror] = mirrors.values();
    const node = await workspace.call(getNode, { node_id: mirror?.node_id ?? '' });
    const path = relative(folder.root, mirror?.local_path ?? '')
      .split(sep)
      .join('/');
    const base = `/nodes/${encodeURIComponent(path)}`;
    expect(path.split('/')).toHaveLength(3);
    expect(await (await workspace.fetch(base)).json()).toMatchObject({ id: node.id });
    const form = new FormData();
    form.set('file', new Blob(['by its path']), 'kwijibo report.md');
    expect((await workspace.fetch(`${base}/files`, { method: 'POST', body: form })).status).toBe(201);
    for (let made = 0; made < 20; made += 1) {
      const body = JSON.stringify({ filename: `json ${made}.md`, content: `${made}` });
      const headers = { 'content-type': 'application/json' };
      expect((await workspace.fetch(`${base}/files`, { method: 'POST', body, headers })).status).toBe(201);
    }
    const read = await workspace.fetch(`/nodes/${encodeURIComponent(node.name)}/file?path=wip/kwijibo%20report.md`);
    expect([read.status, await read.text()]).toEqual([200, 'by its path']);
    const { items } = await workspace.call(search, { query: 'kwijibo' });
    expect(items.map(({ kind, snippet }) => [kind, snippet])).toEqual([['file', 'wip/«kwijibo» report.md']]);
    expect((await workspace.fetch('/nodes/nowhere/file?path=wip/x.md')).status).toBe(404);
  });
});
