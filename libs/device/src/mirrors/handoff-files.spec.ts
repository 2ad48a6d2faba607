import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import {
  type Caller,
  createMirror,
  getResumeInfo,
  getSession,
  listFiles,
  listNodeSessions,
  type Operation,
  removeMirror,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { eventually } from '../watcher/watcher.fixture.js';
import { FolderTexts } from './client-config/folder-texts.js';
import { ScopeFollower } from './client-config/scope-follower.js';
import { HandoffFiles } from './handoff-files.js';

interface KnownSession {
  readonly id: string;
  readonly nodeId: string | null;
  readonly ownerId: string;
  state: 'running' | 'closed';
  handoff: { title: string; text: string; written_by: 'agent' | 'server'; at: string } | null;
}

let device: DeviceFixture;
let sessions: Map<string, KnownSession>;
/** Awaited before a handoff is told. */
let told: Promise<void>;
beforeEach(async () => {
  told = Promise.resolve();
  device = await startDevice();
  await serveSessions();
});
afterEach(() => device.close());

/** The session service, as far as the device asks it. */
async function serveSessions(): Promise<void> {
  sessions = new Map();
  const answers: Readonly<Record<string, (input: { session_id: string; node_id: string }) => unknown>> = {
    [getResumeInfo.name]: ({ session_id }) => ({
      modes: [],
      handoff: sessions.get(session_id)?.handoff ?? null,
      handoff_file: null,
    }),
    [getSession.name]: ({ session_id }) => {
      const { id, nodeId, ownerId, state } = sessions.get(session_id) as KnownSession;
      return {
        id,
        state,
        node: nodeId && { id: nodeId, type: 'project', name: 'N' },
        owner: { id: ownerId, name: 'Ann' },
      };
    },
    [listNodeSessions.name]: ({ node_id }) => ({
      items: [...sessions.values()].filter(({ nodeId }) => nodeId === node_id),
      next_cursor: null,
    }),
  };
  await device.parts.bus.serve(
    'session',
    [getResumeInfo, getSession, listNodeSessions],
    async (operation: Operation, input) => {
      if (operation.name === getResumeInfo.name) await told;
      return answers[operation.name]?.(input as never);
    },
  );
}

function session(nodeId: string | null, ownerId = device.person().user_id): KnownSession {
  const made: KnownSession = { id: newId(), nodeId, ownerId, state: 'running', handoff: null };
  sessions.set(made.id, made);
  return made;
}

async function handOver(of: KnownSession, text: string): Promise<void> {
  of.handoff = { title: 'Count the zebras', text, written_by: 'agent', at: '2026-05-04T10:00:00.000Z' };
  const payload = { session_id: of.id, node_id: of.nodeId, owner_id: of.ownerId };
  await device.parts.bus.publish({ type: 'session.changed', id: randomUUID(), payload });
}

const tell = (of: KnownSession, caller: Caller = device.person()) =>
  device.module.get(HandoffFiles).report(of.id, of.handoff, { callId: randomUUID(), requestId: randomUUID(), caller });

const fileOf = (folder: string, { id }: KnownSession): string => join(folder, '.svc/handoffs', `${id}.md`);

const untilWritten = (file: string, text: string): Promise<void> =>
  eventually(async () => expect(await readFile(file, 'utf8')).toContain(text));

describe('the handoff of a session', () => {
  it('is written into the folder of its node, and the file tells whether somebody changed it [sessions.handoff.mirror-file, sessions.handoff.change-detection]', async () => {
    const { nodeId, path } = await device.mirror('Zoo');
    const one = session(nodeId);
    await handOver(one, 'Seven so far.');
    const file = fileOf(path, one);
    await untilWritten(file, 'Seven so far.');
    expect(await readFile(file, 'utf8')).toContain(
      '# Count the zebras\n\nHandoff of 2026-05-04T10:00:00.000Z, written by the agent.',
    );
    expect(await tell(one)).toEqual({ path: file, state: 'unchanged' });
    await writeFile(file, `${await readFile(file, 'utf8')}Eight now.\n`);
    expect(await tell(one)).toEqual({ path: file, state: 'changed' });
    // It is no file of the node.
    expect((await device.call(listFiles, { node_id: nodeId })).items).toEqual([]);
  });

  it('is pointed to by SVC_SCOPE.md once its file is there, however late that is [mirrors.scope-file]', async () => {
    const nodeId = device.records.node({ name: 'Zoo' });
    const { local_path: path } = await device.call(createMirror, { node_id: nodeId }, device.person());
    const one = session(nodeId);
    const known = { id: one.id, name: 'Zoo', handoff: 'Count the zebras', state: 'running' as const, changes: {} };
    device.graph.details.set(nodeId, { recent_sessions: [{ ...known, at: '2026-05-04T10:00:00.000Z' }] });
    const { promise, resolve } = Promise.withResolvers<void>();
    told = promise;
    await handOver(one, 'Seven so far.');
    const scope = (): Promise<string> => readFile(join(path ?? '', 'SVC_SCOPE.md'), 'utf8');
    const pointer = `read .svc/handoffs/${one.id}.md in this folder`;
    await device.module.get(ScopeFollower).settled();
    expect(await scope()).toContain('Count the zebras');
    expect(await scope()).not.toContain(pointer);
    resolve();
    await eventually(async () => expect(await scope()).toContain(pointer));
  });

  it('that is replaced by the next one leaves what somebody changed beside it', async () => {
    const { nodeId, path } = await device.mirror('Zoo');
    const one = session(nodeId);
    const file = fileOf(path, one);
    await handOver(one, 'First.');
    await untilWritten(file, 'First.');
    await handOver(one, 'Second.');
    await untilWritten(file, 'Second.');
    // What was replaced is aside for a moment.
    await eventually(async () => expect(await readdir(join(path, '.svc/handoffs'))).toEqual([`${one.id}.md`]));
    await writeFile(file, (await readFile(file, 'utf8')).replace('Second.', 'Second, mended.'));
    await handOver(one, 'Second.');
    expect(await tell(one)).toMatchObject({ state: 'changed' });
    await handOver(one, 'Third.');
    await untilWritten(file, 'Third.');
    expect(await tell(one)).toMatchObject({ state: 'unchanged' });
    const others = async (): Promise<string[]> =>
      (await readdir(join(path, '.svc/handoffs'))).filter((name) => name !== `${one.id}.md`);
    await eventually(async () => expect(await others()).toHaveLength(1));
    const [kept = ''] = await others();
    expect(kept).toMatch(new RegExp(`^${one.id} changed [0-9a-f]{8}\\.md$`));
    expect(await readFile(join(path, '.svc/handoffs', kept), 'utf8')).toContain('Second, mended.');
  });

  it('is no file where the node has no folder, where the session is not of the person of the device, and without a node', async () => {
    const { nodeId, path } = await device.mirror('Zoo');
    const bare = device.records.node({ name: 'Bare' });
    const others = [session(nodeId, newId()), session(bare), session(null)];
    for (const each of others) await handOver(each, 'Nowhere.');
    const last = session(nodeId);
    await handOver(last, 'Here.');
    await untilWritten(fileOf(path, last), 'Here.');
    expect(await readdir(join(path, '.svc/handoffs'))).toEqual([`${last.id}.md`]);
    for (const each of others) expect(await tell(each)).toBeNull();
    expect(await tell(last, device.caller('read'))).toBeNull();
    expect(await tell(last, device.caller('manage'))).toMatchObject({ state: 'unchanged' });
  });

  it('is told as soon as it is asked for, and not written again once somebody removed it', async () => {
    const { nodeId, path } = await device.mirror('Zoo');
    const one = session(nodeId);
    expect(await tell(one)).toBeNull();
    one.handoff = { title: 'T', text: 'Unheard.', written_by: 'server', at: '2026-05-04T10:00:00.000Z' };
    expect(await tell(one)).toEqual({ path: fileOf(path, one), state: 'unchanged' });
    await rm(fileOf(path, one));
    expect(await tell(one)).toBeNull();
    await handOver(one, 'Next.');
    await untilWritten(fileOf(path, one), 'Next.');
  });

  it('that the disk refuses keeps nobody from the record, and is written once it can be', async () => {
    const { nodeId, path } = await device.mirror('Zoo');
    const one = session(nodeId);
    one.handoff = { title: 'T', text: 'Late.', written_by: 'server', at: '2026-05-04T10:00:00.000Z' };
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const write = jest.spyOn(FolderTexts.prototype, 'write').mockRejectedValueOnce(full);
    expect(await tell(one)).toBeNull();
    write.mockRestore();
    expect(await tell(one)).toEqual({ path: fileOf(path, one), state: 'unchanged' });
  });

  it('goes through no link, and leaves what is not its own', async () => {
    const { nodeId, path } = await device.mirror('Zoo');
    const [one, two] = [session(nodeId), session(nodeId)];
    await mkdir(join(path, 'elsewhere'));
    await mkdir(join(path, '.svc'));
    await symlink(join(path, 'elsewhere'), join(path, '.svc/handoffs'));
    one.handoff = { title: 'T', text: 'Caught.', written_by: 'agent', at: '2026-05-04T10:00:00.000Z' };
    expect(await tell(one)).toMatchObject({ state: 'changed' });
    expect(await readdir(join(path, 'elsewhere'))).toEqual([]);
    await rm(join(path, '.svc/handoffs'));
    await mkdir(join(path, '.svc/handoffs'));
    await writeFile(fileOf(path, two), 'Mine.');
    two.handoff = one.handoff;
    expect(await tell(two)).toMatchObject({ state: 'changed' });
    expect(await readFile(fileOf(path, two), 'utf8')).toBe('Mine.');
  });

  it('comes with a new folder, and goes with it unless somebody changed it', async () => {
    const nodeId = device.records.node({ name: 'Late' });
    const [one, two] = [session(nodeId), session(nodeId)];
    for (const each of [one, two]) await handOver(each, 'Before the folder.');
    const { local_path: path } = await device.call(createMirror, { node_id: nodeId }, device.person());
    if (path === null) throw new Error('its person is told the folder');
    for (const each of [one, two]) await untilWritten(fileOf(path, each), 'Before the folder.');
    await writeFile(fileOf(path, two), 'Changed.');
    await device.call(removeMirror, { node_id: nodeId }, device.person());
    expect(await readdir(join(path, '.svc/handoffs'))).toEqual([`${two.id}.md`]);
  });

  it('goes when the session is closed, unless somebody changed it', async () => {
    const { nodeId, path } = await device.mirror('Zoo');
    const [one, two] = [session(nodeId), session(nodeId)];
    for (const each of [one, two]) await handOver(each, 'Done.');
    for (const each of [one, two]) await untilWritten(fileOf(path, each), 'Done.');
    await writeFile(fileOf(path, two), 'Changed.');
    for (const each of [two, one]) {
      each.state = 'closed';
      await handOver(each, 'Done.');
    }
    await eventually(async () => expect(await readdir(join(path, '.svc/handoffs'))).toEqual([`${two.id}.md`]));
    expect([await tell(one), await tell(two)]).toMatchObject([null, { state: 'changed' }]);
  });
});
