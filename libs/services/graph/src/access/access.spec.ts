import {
  archiveNode,
  type Caller,
  connect,
  explainAccess,
  getAccess,
  getNode,
  type InputOf,
  listNodes,
  type OutputOf,
  setAccess,
  updateNode,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

type Setting = Omit<InputOf<typeof setAccess>, 'node_id'>;
const set = (nodeId: string, setting: Setting, caller: Caller = graph.admin): Promise<OutputOf<typeof setAccess>> =>
  graph.call(setAccess, { node_id: nodeId, confirmed: true, ...setting }, caller);
const toUser = (caller: Caller, access: 'read' | 'write' = 'read') => ({
  kind: 'user' as const,
  id: caller.user_id,
  access,
});
const shared = (...recipients: { kind: 'user' | 'group'; id: string; access: 'read' | 'write' }[]): Setting => ({
  visibility: 'group',
  recipients,
});

async function group(name: string, ...members: Caller[]): Promise<string> {
  const id = newId();
  await graph.database.prisma.userGroup.create({ data: { id, name } });
  await graph.database.prisma.membership.createMany({
    data: members.map((member) => ({ groupId: id, userId: member.user_id })),
  });
  return id;
}

const area = async (name: string, parentIds: string[] = []): Promise<string> =>
  (await graph.node('area', name, { parent_ids: parentIds })).id;

/** What a caller may do with a node, as get_node tells it. */
async function levelOf(caller: Caller, nodeId: string): Promise<'none' | 'read' | 'write'> {
  const answer = await graph.call(getNode, { node_id: nodeId }, caller).catch((error: { code: string }) => error);
  if (!('access' in answer)) {
    expect(answer.code).toBe('NODE_NOT_FOUND');
    return 'none';
  }
  return answer.access.level;
}

describe('the sharing of a node', () => {
  it('is everyone, private, group or nothing of its own [access.visibility.wire-values]', async () => {
    const id = await area('Vault');
    expect(await graph.call(getAccess, { node_id: id }, graph.admin)).toMatchObject({ own: null, effective: [] });
    expect((await set(id, { visibility: 'everyone' })).access.own).toEqual({ visibility: 'everyone', recipients: [] });
    expect((await set(id, { visibility: 'private' })).access).toMatchObject({
      own: { visibility: 'private' },
      effective: [{ node: { id }, visibility: 'private' }],
    });
    await graph.refusal(setAccess, { node_id: id, visibility: 'public' }, graph.admin, 'VALIDATION_FAILED');
  });

  it('everyone opens it to every caller whatever its parents say [access.visibility.everyone-open] [access.visibility.own-setting-alone]', async () => {
    const parent = await area('Closed');
    const id = await area('Open in closed', [parent]);
    await set(parent, { visibility: 'private' });
    expect(await levelOf(graph.reader, id)).toBe('none');
    await set(id, { visibility: 'everyone' });
    expect(await levelOf(graph.reader, id)).toBe('write');
    expect(await levelOf(graph.reader, parent)).toBe('none');
  });

  it("private leaves its creator, its owner's user and manage [access.visibility.private-hides] [access.scope.manage-sees-all]", async () => {
    const [owner, other] = [await graph.user('Olga'), await graph.user('Otto')];
    const actor = await graph.actor('Olga', { user_id: owner.user_id });
    const { id } = await graph.node('area', 'Diary', { owner_id: actor.id });
    await set(id, { visibility: 'private' });
    const creator: Caller = { ...graph.admin, scope: 'read' };
    expect([
      await levelOf(owner, id),
      await levelOf(creator, id),
      await levelOf(graph.admin, id),
      await levelOf(other, id),
    ]).toEqual(['write', 'write', 'write', 'none']);
  });

  it('group names users and groups with read or write [access.visibility.group-recipients] [access.group.recipient-kinds]', async () => {
    const [member, named, other] = [await graph.user('Mia'), await graph.user('Ned'), await graph.user('Oto')];
    const team = await group('Team', member);
    const id = await area('Plans');
    const { access } = await set(id, shared(toUser(named, 'write'), { kind: 'group', id: team, access: 'read' }));
    expect(access.own).toEqual({
      visibility: 'group',
      recipients: [
        { kind: 'group', id: team, name: 'Team', access: 'read' },
        { kind: 'user', id: named.user_id, name: 'Ned', access: 'write' },
      ],
    });
    expect([await levelOf(named, id), await levelOf(member, id), await levelOf(other, id)]).toEqual([
      'write',
      'read',
      'none',
    ]);
    await graph.refusal(
      setAccess,
      { node_id: id, visibility: 'group', recipients: [{ kind: 'role', id: team }] },
      graph.admin,
      'VALIDATION_FAILED',
    );
    await graph.refusal(
      setAccess,
      { node_id: id, visibility: 'group', recipients: [{ kind: 'user', id: team, access: 'own' }] },
      graph.admin,
      'VALIDATION_FAILED',
    );
  });

  it('dropped inherits again at once [access.own-list.drop-inherits-again]', async () => {
    const parent = await area('Parent');
    const id = await area('Child', [parent]);
    await set(parent, shared(toUser(graph.reader)));
    await set(id, { visibility: 'private' });
    expect(await levelOf(graph.reader, id)).toBe('none');
    const dropped = await set(id, { visibility: null });
    expect(dropped.access).toMatchObject({ own: null, effective: [{ node: { id: parent } }] });
    expect(await levelOf(graph.reader, id)).toBe('read');
  });

  it('names recipients to manage alone', async () => {
    const id = await area('Who is in');
    await set(id, shared(toUser(graph.reader)));
    const seen = await graph.call(getAccess, { node_id: id }, graph.reader);
    expect(seen).toMatchObject({
      own: { visibility: 'group', recipients: [] },
      effective: [{ node: { id }, recipients: [] }],
    });
    expect((await graph.call(getAccess, { node_id: id }, graph.admin)).effective[0]?.recipients).toHaveLength(1);
  });

  it('is set at manage only [access.tier.sharing-needs-manage]', async () => {
    const id = await area('Mine');
    expect(
      (await graph.refusal(setAccess, { node_id: id, visibility: 'private' }, graph.writer, 'FORBIDDEN')).details,
    ).toEqual({ required_scope: 'manage' });
  });

  it('is refused for unknown recipients, recipients without a list and doubles', async () => {
    const id = await area('Strict');
    const unknown = newId();
    const team = await group('Strict team');
    const refuse = (setting: object, code: 'USER_NOT_FOUND' | 'GROUP_NOT_FOUND' | 'VALIDATION_FAILED') =>
      graph.refusal(setAccess, { node_id: id, ...setting }, graph.admin, code);
    expect(
      (await refuse(shared(toUser(graph.reader), { kind: 'user', id: unknown, access: 'read' }), 'USER_NOT_FOUND'))
        .details,
    ).toEqual({ user_id: unknown, path: 'recipients.1.id' });
    expect((await refuse(shared({ kind: 'group', id: unknown, access: 'read' }), 'GROUP_NOT_FOUND')).details).toEqual({
      group_id: unknown,
      path: 'recipients.0.id',
    });
    await refuse(shared({ kind: 'user', id: team, access: 'read' }), 'USER_NOT_FOUND');
    await refuse({ visibility: 'private', recipients: [toUser(graph.reader)] }, 'VALIDATION_FAILED');
    await refuse(shared(toUser(graph.reader), toUser(graph.reader, 'write')), 'VALIDATION_FAILED');
    await graph.refusal(setAccess, { node_id: unknown, visibility: 'private' }, graph.admin, 'NODE_NOT_FOUND');
  });

  it('is not overwritten by who read it before a change', async () => {
    const id = await area('Versioned');
    const { version } = await graph.call(getAccess, { node_id: id }, graph.admin);
    const first = await set(id, { visibility: 'private', expected_version: version });
    expect(first.access.version).toBe(version + 1);
    const refused = await graph.refusal(
      setAccess,
      { node_id: id, visibility: 'everyone', confirmed: true, expected_version: version },
      graph.admin,
      'CONFLICT',
    );
    expect(refused.details?.['current']).toEqual(first.access);
  });

  it('goes to one of two who set it at once', async () => {
    const id = await area('Contested');
    const { version } = await graph.call(getAccess, { node_id: id }, graph.admin);
    const done = await Promise.allSettled([
      set(id, { visibility: 'private', expected_version: version }),
      set(id, { ...shared(toUser(graph.reader)), expected_version: version }),
      graph.call(updateNode, { node_id: id, name: 'Renamed', expected_version: version }, graph.admin),
    ]);
    expect(done.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    for (const one of done) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'CONFLICT' });
  });

  it('set again as it is leaves version and audit alone; a repeated call answers as before', async () => {
    const id = await area('Calm');
    const callId = newId();
    const input = { node_id: id, confirmed: true, ...shared(toUser(graph.reader), toUser(graph.writer, 'write')) };
    const first = await graph.call(setAccess, input, graph.admin, callId);
    const repeated = await graph.call(setAccess, input, graph.admin, callId);
    expect(repeated).toEqual(first);
    const again = await set(id, shared(toUser(graph.writer, 'write'), toUser(graph.reader)));
    expect(again.access).toEqual(first.access);
    expect(await graph.database.prisma.auditEntry.count({ where: { targetId: id, action: 'set_access' } })).toBe(1);
  });

  it('is audited with what was and what is', async () => {
    const id = await area('Audited');
    await set(id, shared(toUser(graph.reader)));
    await set(id, shared(toUser(graph.reader, 'write')));
    await set(id, { visibility: 'private' });
    const entries = await graph.database.prisma.auditEntry.findMany({
      where: { targetId: id, action: 'set_access' },
      orderBy: { id: 'asc' },
    });
    const line = (access: string) => [{ kind: 'user', id: graph.reader.user_id, access }];
    expect(entries.map(({ before, after }) => ({ before, after }))).toEqual([
      { before: { visibility: null, recipients: [] }, after: { visibility: 'group', recipients: line('read') } },
      { before: { recipients: line('read') }, after: { recipients: line('write') } },
      { before: { visibility: 'group', recipients: line('write') }, after: { visibility: 'private', recipients: [] } },
    ]);
  });
});

describe('a preview of sharing', () => {
  it('tells who loses, and a change that only narrows is stored at once [access.preview.sharing]', async () => {
    const id = await area('Narrow');
    const below = await area('Below narrow', [id]);
    const changed = await graph.call(setAccess, { node_id: id, ...shared(toUser(graph.reader)) }, graph.admin);
    expect(changed.applied).toBe(true);
    const loses = new Map(changed.preview?.loses.map((line) => [line.user_id, line]));
    expect(changed.preview).toMatchObject({ widens: false, gains: [], opens_to_everyone: 0, complete: true });
    expect(loses.get(graph.reader.user_id)).toMatchObject({ node_count: 2 });
    expect(loses.get(graph.writer.user_id)?.sample).toEqual([
      { node_id: below, node_name: 'Below narrow' },
      { node_id: id, node_name: 'Narrow' },
    ]);
  });

  it('of a change that widens leaves everything as it was until it is confirmed [access.preview.widening-needs-confirmation]', async () => {
    const id = await area('Widen');
    await set(id, { visibility: 'private' });
    const before = await graph.call(getAccess, { node_id: id }, graph.admin);
    const asked = await graph.call(setAccess, { node_id: id, ...shared(toUser(graph.reader)) }, graph.admin);
    expect(asked).toMatchObject({
      applied: false,
      access: before,
      preview: {
        widens: true,
        gains: [{ user_id: graph.reader.user_id, user_name: 'Rita Reader', node_count: 1 }],
        loses: [],
      },
    });
    expect(await levelOf(graph.reader, id)).toBe('none');
    expect(await graph.call(getAccess, { node_id: id }, graph.admin)).toEqual(before);
    expect(await set(id, shared(toUser(graph.reader)))).toMatchObject({ applied: true, preview: asked.preview });
    expect(await levelOf(graph.reader, id)).toBe('read');
  });

  it('counts what becomes open to everyone, also when every present user saw it', async () => {
    const id = await area('Nearly open');
    await set(id, { visibility: 'private' });
    const { rows } = await graph.database.pool.query<{ id: string }>(`SELECT id FROM identity."user"`);
    await set(id, shared(...rows.map((row) => ({ kind: 'user' as const, id: row.id, access: 'write' as const }))));
    const asked = await graph.call(setAccess, { node_id: id, visibility: null }, graph.admin);
    expect(asked).toMatchObject({
      applied: false,
      preview: { widens: true, gains: [], loses: [], opens_to_everyone: 1 },
    });
  });

  it('is all that a dry run makes, even of a narrowing', async () => {
    const id = await area('Dry');
    const tried = await graph.call(
      setAccess,
      { node_id: id, visibility: 'private', dry_run: true, confirmed: true },
      graph.admin,
    );
    expect(tried).toMatchObject({ applied: false, access: { own: null }, preview: { widens: false } });
    expect(tried.preview?.loses.length).toBeGreaterThan(0);
    expect(await levelOf(graph.reader, id)).toBe('write');
  });

  it('tells read from write', async () => {
    const id = await area('Levels');
    await set(id, shared(toUser(graph.reader), toUser(graph.writer, 'write')));
    const asked = await graph.call(
      setAccess,
      { node_id: id, ...shared(toUser(graph.reader, 'write'), toUser(graph.writer)) },
      graph.admin,
    );
    expect(asked).toMatchObject({
      applied: false,
      preview: { gains: [{ user_id: graph.reader.user_id }], loses: [{ user_id: graph.writer.user_id }] },
    });
  });
});

describe('inheritance', () => {
  it('follows the nearest ancestor with a setting, over every path, with the weakest access [access.inherit.nearest-restricted-ancestor] [access.inherit.every-path-must-allow] [access.inherit.weakest-access]', async () => {
    const [top, left, right] = [await area('Top'), await area('Left'), await area('Right')];
    const middle = await area('Middle', [top]);
    const id = await area('Leaf', [middle, left, right]);
    await set(top, shared(toUser(graph.reader, 'write'), toUser(graph.writer, 'write')));
    await set(left, shared(toUser(graph.reader)));
    expect([await levelOf(graph.reader, id), await levelOf(graph.writer, id)]).toEqual(['read', 'none']);
    await set(right, { visibility: 'everyone' });
    expect([await levelOf(graph.reader, id), await levelOf(graph.writer, id)]).toEqual(['read', 'none']);
    await set(middle, { visibility: 'everyone' });
    expect((await graph.call(getAccess, { node_id: id }, graph.admin)).effective.map((gate) => gate.node.id)).toEqual([
      left,
    ]);
  });

  it("ends in the organization's list, and without one in everyone [access.inherit.organization-list] [access.inherit.default-everyone] [access.inherit.not-through-organizations]", async () => {
    const organization = await graph.node('organization', 'Secret Ltd');
    const { id: parent } = await graph.node('area', 'Unset', { organization_id: organization.id });
    const { id } = await graph.node('project', 'Below unset', {
      organization_id: organization.id,
      parent_ids: [parent],
    });
    expect(await levelOf(graph.reader, id)).toBe('write');
    await set(organization.id, shared(toUser(graph.writer)));
    expect([await levelOf(graph.reader, id), await levelOf(graph.writer, id)]).toEqual(['none', 'read']);
    await set(parent, shared(toUser(graph.reader)));
    expect([await levelOf(graph.reader, id), await levelOf(graph.writer, id)]).toEqual(['read', 'none']);
  });

  it('runs along belongs_to alone [access.inherit.other-relations-do-not-carry]', async () => {
    const [closed, id] = [await area('Related closed'), await area('Related open')];
    await set(closed, { visibility: 'private' });
    for (const relation of ['related_to', 'applies', 'informed_by'] as const) {
      await graph.call(connect, { source_id: id, target_id: closed, relation }, graph.admin);
      await graph.call(connect, { source_id: closed, target_id: id, relation }, graph.admin);
    }
    expect(await levelOf(graph.reader, id)).toBe('write');
  });

  it('never shows a new edge with the old access [access.materialised.same-transaction]', async () => {
    const [closed, id] = [await area('Gate'), await area('Goes under')];
    await set(closed, { visibility: 'private' });
    let stop = false;
    const watch = (async () => {
      while (!stop) {
        const { rows } = await graph.database.pool.query<{ wrong: boolean }>(
          `
          SELECT EXISTS (SELECT FROM graph.edge WHERE source_id = $1 AND target_id = $2)
            AND EXISTS (SELECT FROM graph.visible_node($3, false) WHERE id = $1) AS wrong`,
          [id, closed, graph.reader.user_id],
        );
        expect(rows[0]?.wrong).toBe(false);
      }
    })();
    await graph.call(connect, { source_id: id, target_id: closed, relation: 'belongs_to' }, graph.admin);
    stop = true;
    await watch;
    expect(await levelOf(graph.reader, id)).toBe('none');
  });
});

describe('a recipient with read', () => {
  it('cannot write with a credential of write scope, and nobody beyond the scope of theirs [access.group.read-recipient-cannot-write] [access.scope.caps-access] [access.scope.ladder]', async () => {
    const id = await area('Readable');
    await set(id, shared(toUser(graph.writer)));
    expect(await levelOf(graph.writer, id)).toBe('read');
    const manager: Caller = { ...graph.writer, scope: 'manage' };
    expect(await levelOf(manager, id)).toBe('write');
    await graph.refusal(archiveNode, { node_id: id }, graph.writer, 'FORBIDDEN');
  });
});

describe('an explanation', () => {
  it('names each deciding setting and the entry that counts [access.explain]', async () => {
    const [owner, member, other] = [await graph.user('Ola'), await graph.user('Max'), await graph.user('Nil')];
    const actor = await graph.actor('Ola', { user_id: owner.user_id });
    const team = await group('Readers', member);
    const writers = await group('Writers', member);
    const { id: left } = await graph.node('area', 'A left', { owner_id: actor.id });
    const right = await area('B right');
    const id = await area('Explained', [left, right]);
    await set(
      left,
      shared(
        { kind: 'group', id: team, access: 'read' },
        { kind: 'group', id: writers, access: 'write' },
        toUser(owner),
      ),
    );
    await set(right, shared(toUser(member), toUser(owner)));
    const explain = (user: Caller) => graph.call(explainAccess, { node_id: id, user_id: user.user_id }, graph.admin);
    const line = (because: string, level: string, name: string | null = null) => ({
      because,
      level,
      group: name,
      visibility: 'group',
    });
    expect(await explain(member)).toMatchObject({
      level: 'read',
      open: false,
      reasons: [line('group_member', 'write', 'Writers'), line('recipient', 'read')],
    });
    expect(await explain(owner)).toMatchObject({
      level: 'read',
      reasons: [line('owner', 'write'), line('recipient', 'read')],
    });
    expect(await explain(other)).toMatchObject({
      level: 'none',
      reasons: [line('not_listed', 'none'), line('not_listed', 'none')],
    });
    expect(await explain(graph.admin)).toMatchObject({
      level: 'write',
      reasons: [line('creator', 'write'), line('creator', 'write')],
    });
  });

  it('of a private node counts no recipient, and of an open one has no reasons', async () => {
    const id = await area('Bare');
    expect(await graph.call(explainAccess, { node_id: id }, graph.reader)).toEqual({
      node_id: id,
      user_id: graph.reader.user_id,
      level: 'write',
      reasons: [],
      open: true,
    });
    await set(id, { visibility: 'private' });
    expect(await graph.call(explainAccess, { node_id: id, user_id: graph.reader.user_id }, graph.admin)).toMatchObject({
      level: 'none',
      reasons: [{ because: 'not_listed', visibility: 'private' }],
    });
  });

  it("is one's own below manage, and of a hidden node that of an absent one [access.explain] [access.hidden.indistinguishable-from-absent]", async () => {
    const hidden = await area('Hidden');
    await set(hidden, { visibility: 'private' });
    await graph.refusal(explainAccess, { node_id: hidden, user_id: graph.admin.user_id }, graph.reader, 'FORBIDDEN');
    await graph.refusal(explainAccess, { node_id: hidden, user_id: newId() }, graph.admin, 'USER_NOT_FOUND');
    const absent = newId();
    for (const operation of [explainAccess, getAccess, getNode]) {
      const [first, second] = [
        await graph.refusal(operation, { node_id: hidden }, graph.reader, 'NODE_NOT_FOUND'),
        await graph.refusal(operation, { node_id: absent }, graph.reader, 'NODE_NOT_FOUND'),
      ];
      expect(JSON.stringify(first.toBody('r')).replaceAll(hidden, absent)).toBe(JSON.stringify(second.toBody('r')));
    }
  });

  it('agrees with what the user sees', async () => {
    const callers = [graph.reader, graph.writer, await graph.user('Ian')];
    const { items } = await graph.call(listNodes, { limit: 500 }, graph.admin);
    for (const caller of callers) {
      for (const node of items) {
        const { level } = await graph.call(explainAccess, { node_id: node.id, user_id: caller.user_id }, graph.admin);
        expect([node.name, level]).toEqual([node.name, await levelOf(caller, node.id)]);
      }
    }
  });
});
