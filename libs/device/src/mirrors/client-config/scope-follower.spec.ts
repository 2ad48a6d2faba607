import { randomUUID } from 'node:crypto';
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Caller, createMirror, ServiceError } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type DeviceFixture, startDevice } from '../../testing/device.fixture.js';
import { Mirrors } from '../mirrors.js';
import { MirrorConfigs } from './mirror-configs.js';
import { ScopeFollower } from './scope-follower.js';

let device: DeviceFixture;
let ann: Caller;
let nodeId: string;
let file: string;
beforeEach(async () => {
  device = await startDevice();
  ann = device.caller('write');
  nodeId = device.records.node({ name: 'Alpha' });
  file = join(device.root, 'acme', 'projects', 'alpha', 'SVC_SCOPE.md');
  await device.call(createMirror, { node_id: nodeId }, ann);
  await follower().settled();
  device.graph.askers.length = 0;
});
afterEach(() => device.close());

const follower = () => device.module.get(ScopeFollower);
const told = () => readFile(file, 'utf8');
const describeAs = (description: string) => device.graph.details.set(nodeId, { description });
const tell = async (type: 'graph.changed' | 'access.changed', nodeIds: readonly string[]): Promise<void> => {
  const payload = { node_ids: [...nodeIds], action: 'a_test' };
  await device.parts.bus.publish({ type, id: randomUUID(), payload });
  await follower().settled();
};
const hide = (seenBy: readonly string[]): void => {
  const node = device.records.nodes.get(nodeId);
  if (node) device.records.nodes.set(nodeId, { ...node, seenBy: new Set(seenBy) });
};

describe('SVC_SCOPE.md and the graph', () => {
  it('tells what changed in the node some seconds later, as the one for whom it was made sees it', async () => {
    describeAs('changed');
    const payload = { node_ids: [nodeId], action: 'update_node' };
    await device.parts.bus.publish({ type: 'graph.changed', id: randomUUID(), payload });
    const until = Date.now() + 60_000;
    while (!(await told()).includes('> changed') && Date.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await told()).toContain('> changed');
    expect(device.graph.askers).toMatchObject([{ user_id: ann.user_id, scope: 'write', via: 'system' }]);
  });

  it('asks once for many changes, and nothing for nodes of which no file tells', async () => {
    await tell('graph.changed', [newId()]);
    expect(device.graph.askers).toHaveLength(0);
    const payload = { node_ids: [nodeId], action: 'update_node' };
    for (let index = 0; index < 50; index += 1)
      await device.parts.bus.publish({ type: 'graph.changed', id: randomUUID(), payload });
    await follower().settled();
    expect(device.graph.askers).toHaveLength(1);
  });

  it('tells what changed in what it names, and in whatever it is when nothing is named', async () => {
    const [near, person] = [newId(), newId()];
    const alpha = (name: string, owner: string) => ({
      owner: { id: person, type: 'person' as const, name: owner },
      nodes: [
        {
          id: near,
          type: 'area' as const,
          name,
          lifecycle: 'active' as const,
          health: null,
          health_note: null,
          depth: 1,
          via: [],
          owner: null,
        },
      ],
    });
    device.graph.details.set(nodeId, alpha('Finance', 'Bea'));
    await tell('graph.changed', [nodeId]);
    device.graph.details.set(nodeId, alpha('Money', 'Bea'));
    await tell('graph.changed', [near]);
    expect(await told()).toContain('Money (area');
    device.graph.details.set(nodeId, alpha('Money', 'Beatrice'));
    await tell('graph.changed', [person]);
    expect(await told()).toContain('- Owner: Beatrice');
    describeAs('imported');
    await tell('graph.changed', []);
    expect(await told()).toContain('> imported');
  });

  it('is looked at when the workspace starts to listen, and written only when it differs', async () => {
    await chmod(file, 0o600);
    const before = await stat(file, { bigint: true });
    const configs = device.module.get(MirrorConfigs);
    configs.refreshInBackground();
    await Promise.all([configs.settled(), follower().settled()]);
    expect((await stat(file, { bigint: true })).ino).toBe(before.ino);
    describeAs('meanwhile');
    configs.refreshInBackground();
    await Promise.all([configs.settled(), follower().settled()]);
    expect(await told()).toContain('> meanwhile');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('stays as it is when somebody wrote or changed it, and gone when somebody removed it', async () => {
    describeAs('changed');
    for (const content of ['# Mine\n', `${await told()}\nA line.\n`]) {
      await writeFile(file, content);
      await tell('graph.changed', [nodeId]);
      expect(await told()).toBe(content);
    }
    await rm(file);
    await tell('graph.changed', [nodeId]);
    await expect(told()).rejects.toThrow('ENOENT');
    expect(device.graph.askers).toHaveLength(0);
  });

  it('says nothing of a node that its author does not see any more, until they do or somebody else takes its place', async () => {
    describeAs('secret');
    await tell('graph.changed', [nodeId]);
    const bea = device.caller('write');
    hide([bea.user_id]);
    await tell('access.changed', []);
    const withdrawn = await told();
    expect(withdrawn).toContain('Nothing is available about this folder at present.');
    for (const word of ['secret', 'Alpha', nodeId]) expect(withdrawn).not.toContain(word);
    expect(device.module.get(Mirrors).of(nodeId)).not.toBeNull();
    hide([ann.user_id, bea.user_id]);
    await tell('access.changed', []);
    expect(await told()).toContain('> secret');
    hide([bea.user_id]);
    await tell('access.changed', []);
    await device.call(createMirror, { node_id: nodeId }, bea);
    expect(await told()).toContain('> secret');
    hide([ann.user_id]);
    await tell('access.changed', []);
    expect(await told()).toBe(withdrawn);
  });

  it('tells no more than its author may have by now', async () => {
    const user = (details: object | null) => device.identity.users.set(ann.user_id, details);
    const ended = async () => {
      const payload = { user_id: ann.user_id, credential_id: null };
      await device.parts.bus.publish({ type: 'credential.ended', id: randomUUID(), payload });
      await follower().settled();
    };
    user({ max_scope: 'read' });
    await ended();
    expect(device.graph.askers.at(-1)).toMatchObject({ scope: 'read' });
    user({ claim_scope: 'read' });
    await ended();
    expect(device.graph.askers.at(-1)).toMatchObject({ scope: 'read' });
    user({ max_scope: 'manage' });
    await ended();
    expect(device.graph.askers.at(-1)).toMatchObject({ scope: 'write' });
    for (const gone of [{ disabled: true }, null]) {
      user({});
      await ended();
      expect(await told()).toContain('# Alpha');
      user(gone);
      await ended();
      expect(await told()).toContain('Nothing is available');
    }
  });

  it('stays as it is while the graph does not answer', async () => {
    const before = await told();
    describeAs('changed');
    device.graph.failure = new ServiceError('SERVICE_UNAVAILABLE', 'down');
    await tell('graph.changed', [nodeId]);
    expect(await told()).toBe(before);
    expect(device.log.join('')).toContain('SVC_SCOPE.md in a folder was not refreshed');
    device.graph.failure = null;
    await tell('graph.changed', [nodeId]);
    expect(await told()).toContain('> changed');
  });
});
