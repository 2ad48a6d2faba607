import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  createMirror,
  createNode,
  deleteFile,
  type InputOf,
  listFiles,
  listTrash,
  moveFile,
  type Operation,
  renameFolder,
  restoreTrash,
} from '@workspace-graph/contracts';
import { SmallDisk } from '@workspace-graph/testing';
import { canActAsNobody, NOBODY } from './other-user.js';
import { hashesBelow } from './sample-files.js';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const DISK_MB = 420;
const FILES = 40;
/** Free bytes with which all changes are tried: from what many of them need to nothing at all. */
const ROOM = [400_000, 100_000, 40_000, 12_000, 0];
const AGREED_MS = 60_000;
const STORY_MS = 4 * START_MS;
const CONTENT = randomBytes(6_000).toString('base64url');
const confirmed = true;

/** Only root can make a small disk to fill. */
const onSmallDisk = SmallDisk.available() && canActAsNobody() ? describe : describe.skip;

interface Place {
  readonly nodeId: string;
  readonly path: string;
}

onSmallDisk('a disk that fills up while people work with files', () => {
  it(
    'ends every change in a told error, lets the workspace stop, and within a minute of room all agrees',
    async () => {
      using disk = new SmallDisk(DISK_MB, NOBODY);
      await using folder = new WorkspaceFolder({ root: join(disk.folder, 'workspace'), user: NOBODY });
      let workspace = await folder.start();
      const places: [Place, Place] = [await mirrored(workspace, 'One'), await mirrored(workspace, 'Other')];
      for (let index = 0; index < FILES; index += 1)
        await put(workspace, places[index % 4 === 0 ? 1 : 0], {
          path: `wip/d${index % 8}/f${index}.md`,
          body: `${index}`,
        });

      const [first] = (await workspace.call(listFiles, { node_id: places[0].nodeId })).items;
      await workspace.call(deleteFile, { node_id: places[0].nodeId, file_id: first?.id ?? '', confirmed });

      const outcomes = new Set<string>();
      for (const bytes of ROOM) {
        disk.fill(bytes);
        for (const outcome of await changeMuch(workspace, places)) outcomes.add(outcome);
      }
      // A database server that ends for want of room is away until there is some.
      outcomes.delete('503 SERVICE_UNAVAILABLE');
      expect([...outcomes].toSorted()).toEqual(['507 STORAGE_FULL', 'done']);
      disk.clear();
      await agree(workspace, places);

      disk.fill(0);
      await changeMuch(workspace, places);
      expect(await workspace.stop()).toBe(0);
      disk.clear();
      workspace = await folder.start();
      await agree(workspace, places);
      expect(await workspace.stop()).toBe(0);
    },
    STORY_MS,
  );
});

async function mirrored(workspace: RunningWorkspace, name: string): Promise<Place> {
  const { id } = await workspace.call(createNode, { type: 'organization', name });
  const { local_path } = await workspace.call(createMirror, { node_id: id });
  return { nodeId: id, path: local_path ?? '' };
}

interface Put {
  readonly path: string;
  readonly body: string;
  /** Of the content that is replaced; a new file without it. */
  readonly sha256?: string | null;
}

function put(workspace: RunningWorkspace, { nodeId }: Place, { path, body, sha256 }: Put): Promise<Response> {
  const headers: Record<string, string> = sha256 ? { 'if-match': `"${sha256}"` } : { 'if-none-match': '*' };
  const target = `/nodes/${nodeId}/file?${new URLSearchParams({ path })}`;
  return workspace.fetch(target, { method: 'PUT', body, headers: { ...headers, 'content-type': 'text/plain' } });
}

function ask<Op extends Operation>(workspace: RunningWorkspace, operation: Op, input: InputOf<Op>): Promise<Response> {
  return workspace.send(operation, input);
}

/** Tries every kind of change, also by another program. Answers how each ended. */
async function changeMuch(workspace: RunningWorkspace, [one, other]: readonly [Place, Place]): Promise<string[]> {
  const node_id = one.nodeId;
  const name = randomBytes(4).toString('hex');
  const { items } = await workspace.call(listFiles, { node_id, limit: 500 });
  // A record whose change failed half-way waits for room to be set right.
  const whole = items.filter((file) => existsSync(join(one.path, file.path)));
  // A section itself cannot be renamed.
  const e = whole.find(({ path }) => posix.dirname(path).includes('/'));
  const [a, b, c, d] = whole.filter((file) => file !== e);
  const [entry] = (await workspace.call(listTrash, { node_id })).items;
  if (!a || !b || !c || !d || !e || !entry) throw new Error('there are more files than that');
  const [old_prefix, new_prefix] = [posix.dirname(e.path), `wip/${name}`];
  const changes = [
    () => put(workspace, one, { path: `wip/${name}.md`, body: CONTENT }),
    () => put(workspace, one, { path: a.path, body: CONTENT, sha256: a.sha256 }),
    () => ask(workspace, moveFile, { node_id, file_id: b.id, new_filename: `b-${name}.md`, confirmed }),
    () =>
      ask(workspace, moveFile, {
        node_id,
        file_id: c.id,
        new_node_id: other.nodeId,
        new_filename: `${name}.md`,
        confirmed,
      }),
    () => ask(workspace, deleteFile, { node_id, file_id: d.id, confirmed }),
    () => ask(workspace, renameFolder, { node_id, old_prefix, new_prefix, dry_run: false }),
    () => ask(workspace, restoreTrash, { trash_id: entry.id, path: `wip/restored-${name}.md` }),
    () => ask(workspace, createNode, { type: 'organization', name: `Node ${name}` }),
  ];
  const outcomes: string[] = [];
  for (const change of changes) outcomes.push(await outcomeOf(await change()));
  try {
    writeFileSync(join(one.path, 'wip', `by-hand-${name}.txt`), name);
  } catch {
    // The disk is full for this program too.
  }
  return outcomes;
}

async function outcomeOf(response: Response): Promise<string> {
  const body = (await response.json()) as { code?: string; repair_needed?: boolean };
  if (!response.ok) return `${response.status} ${body.code}`;
  return body.repair_needed ? 'to be repaired' : 'done';
}

/** Waits until the workspace tells what the disk holds. */
async function agree(workspace: RunningWorkspace, places: readonly Place[]): Promise<void> {
  const deadlineMs = performance.now() + AGREED_MS;
  for (;;) {
    const sides = await Promise.all(places.map((place) => bothSides(workspace, place)));
    if (sides.every(({ told, disk }) => isDeepStrictEqual(told, disk))) return;
    if (performance.now() > deadlineMs) for (const { told, disk } of sides) expect(told).toEqual(disk);
    await sleep(500);
  }
}

async function bothSides(workspace: RunningWorkspace, { nodeId, path }: Place) {
  const { items } = await workspace.call(listFiles, { node_id: nodeId, limit: 500 });
  const told = new Map(items.map((file) => [file.path, file.sha256]));
  const sections = ['wip', 'outputs', 'resources'].filter((section) => existsSync(join(path, section)));
  const disk = sections.flatMap((section) =>
    [...hashesBelow(join(path, section))].map(([name, hash]) => [`${section}/${name}`, hash] as const),
  );
  return { told, disk: new Map(disk) };
}
