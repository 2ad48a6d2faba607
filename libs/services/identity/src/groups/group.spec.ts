import {
  authenticate,
  type Caller,
  changeGroupMembers,
  createGroup,
  deleteGroup,
  type Group,
  getUser,
  listGroupMembers,
  listGroups,
  updateGroup,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { IdentityModule } from '../identity.module.js';

let harness: ServiceHarness;
let admin: Caller;
let bo: Caller;
let eve: Caller;
beforeEach(async () => {
  harness = await startServices([IdentityModule]);
  [admin, bo, eve] = [await harness.user('Ada', 'manage'), await harness.user('Bo'), await harness.user('Eve')];
});
afterEach(() => harness.close());

const group = (name: string, claim: string | null = null): Promise<Group> =>
  harness.call(createGroup, { name, claim }, admin);
const change = (id: string, more: { add?: string[]; remove?: string[]; confirmed?: boolean }) =>
  harness.call(changeGroupMembers, { group_id: id, ...more }, admin);

/** Until a transaction of this database waits for another one. */
async function waitForBlocked(): Promise<void> {
  for (;;) {
    const { rowCount } = await harness.database.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
    );
    if (rowCount) return;
  }
}

/** An organization that is shared with the given group alone. */
async function sharedWith(groupId: string): Promise<string> {
  const id = newId();
  const { pool } = harness.database;
  await pool.query(
    `INSERT INTO graph.node (id, type, name, lifecycle, sync_key, visibility) VALUES ($1, 'organization', 'Vault', 'active', 'n' || $2, 'group')`,
    [id, id.replaceAll('-', '')],
  );
  await pool.query(`INSERT INTO graph.share (node_id, group_id, access) VALUES ($1, $2, 'read')`, [id, groupId]);
  await pool.query(`SELECT graph.refresh_access(ARRAY[$1]::uuid[])`, [id]);
  return id;
}

async function sees(caller: Caller, nodeId: string): Promise<boolean> {
  const { rowCount } = await harness.database.pool.query(`SELECT FROM graph.visible_node($1, false) WHERE id = $2`, [
    caller.user_id,
    nodeId,
  ]);
  return rowCount === 1;
}

describe('groups', () => {
  it('are created, listed, renamed and deleted at manage [identity.groups.crud]', async () => {
    const made = await group('Board', 'board');
    expect(made).toMatchObject({ name: 'Board', claim: 'board', member_count: 0, version: 1 });
    const renamed = await harness.call(
      updateGroup,
      { group_id: made.id, name: 'The board', expected_version: 1 },
      admin,
    );
    expect(renamed).toMatchObject({ name: 'The board', claim: 'board', version: 2 });
    for (const query of ['THE', 'BOARD'])
      expect((await harness.call(listGroups, { query }, admin)).items).toEqual([renamed]);
    expect(await harness.call(deleteGroup, { group_id: made.id, confirmed: true }, admin)).toMatchObject({
      applied: true,
      group: renamed,
    });
    await harness.refusal(deleteGroup, { group_id: made.id, confirmed: true }, admin, 'GROUP_NOT_FOUND');
    expect((await harness.call(listGroups, {}, admin)).items).toEqual([]);
  });

  it('are out of reach below manage [access.tier.identity-needs-manage]', async () => {
    const { id } = await group('Board');
    for (const [operation, input] of [
      [createGroup, { name: 'x' }],
      [listGroups, {}],
      [updateGroup, { group_id: id, name: 'x' }],
      [deleteGroup, { group_id: id }],
      [listGroupMembers, { group_id: id }],
      [changeGroupMembers, { group_id: id, add: [bo.user_id] }],
    ] as const)
      await harness.refusal(operation, input, bo, 'FORBIDDEN');
  });

  it('have each their own name and claim', async () => {
    const board = await group('Board', 'board');
    expect((await harness.refusal(createGroup, { name: 'BOARD' }, admin, 'NAME_TAKEN')).details).toEqual({
      field: 'name',
      group_id: board.id,
    });
    expect((await harness.refusal(createGroup, { name: 'x', claim: 'board' }, admin, 'NAME_TAKEN')).details).toEqual({
      field: 'claim',
      group_id: board.id,
    });
    const staff = await group('Staff');
    await harness.refusal(updateGroup, { group_id: staff.id, name: 'Bóard' }, admin, 'NAME_TAKEN');
    await harness.call(updateGroup, { group_id: board.id, name: 'board' }, admin);
  });

  it.each([
    ['name', { name: 'Bóard' }],
    ['claim', { name: 'x', claim: 'board' }],
  ])('made at once with the same %s are one', async (field, second) => {
    const { pool } = harness.database;
    const first = await pool.connect();
    await first.query('BEGIN');
    await first.query(`INSERT INTO identity.user_group (id, name, claim) VALUES ($1, 'Board', 'board')`, [newId()]);
    const refused = harness.refusal(createGroup, second, admin, 'NAME_TAKEN');
    await waitForBlocked();
    await first.query('COMMIT');
    first.release();
    expect((await refused).details).toMatchObject({ field });
  });

  it('are not overwritten by who read them before a change', async () => {
    const board = await group('Board');
    const changed = await harness.call(updateGroup, { group_id: board.id, claim: 'b', expected_version: 1 }, admin);
    expect(
      (await harness.refusal(updateGroup, { group_id: board.id, claim: 'c', expected_version: 1 }, admin, 'CONFLICT'))
        .details?.['current'],
    ).toEqual(changed);
  });

  it('lose the members of their old claim when the claim changes', async () => {
    const board = await group('Board', 'board');
    const expires = new Date(Date.now() + 60_000).toISOString();
    const { caller } = await harness.call(
      authenticate,
      {
        credential: {
          kind: 'oidc',
          issuer: 'https://id.example',
          subject: 's',
          name: 'Sue',
          groups: ['board'],
          scope: 'read',
          expires_at: expires,
        },
      },
      admin,
    );
    await change(board.id, { add: [bo.user_id], confirmed: true });
    await harness.call(updateGroup, { group_id: board.id, claim: 'directors' }, admin);
    expect((await harness.call(listGroupMembers, { group_id: board.id }, admin)).items).toEqual([
      { id: bo.user_id, name: 'Bo' },
    ]);
    expect((await harness.call(getUser, { user_id: caller.user_id }, admin)).groups).toEqual([]);
  });
});

describe('the members of a group', () => {
  it('are added, listed by name and page, and removed [identity.groups.crud]', async () => {
    const board = await group('Board');
    expect(await change(board.id, { add: [eve.user_id, bo.user_id] })).toMatchObject({
      applied: true,
      group: { member_count: 2, version: 2 },
    });
    const first = await harness.call(listGroupMembers, { group_id: board.id, limit: 1 }, admin);
    const second = await harness.call(
      listGroupMembers,
      { group_id: board.id, limit: 1, cursor: first.next_cursor ?? '' },
      admin,
    );
    expect([...first.items, ...second.items].map((user) => user.name)).toEqual(['Bo', 'Eve']);
    expect(await change(board.id, { remove: [eve.user_id] })).toMatchObject({ group: { member_count: 1, version: 3 } });
    expect(await change(board.id, { remove: [eve.user_id], add: [bo.user_id] })).toMatchObject({
      group: { member_count: 1, version: 3 },
    });
  });

  it('must be users, and not added and removed at once', async () => {
    const board = await group('Board');
    const unknown = newId();
    const refused = await harness.refusal(
      changeGroupMembers,
      { group_id: board.id, add: [bo.user_id, unknown] },
      admin,
      'USER_NOT_FOUND',
    );
    expect(refused.details).toEqual({ user_id: unknown, path: 'add.1' });
    await harness.refusal(
      changeGroupMembers,
      { group_id: board.id, add: [bo.user_id], remove: [bo.user_id] },
      admin,
      'VALIDATION_FAILED',
    );
    await harness.refusal(changeGroupMembers, { group_id: unknown, add: [bo.user_id] }, admin, 'GROUP_NOT_FOUND');
  });

  it('gain what the group sees only when it is confirmed [access.preview.membership] [access.preview.widening-needs-confirmation]', async () => {
    const board = await group('Board');
    const nodeId = await sharedWith(board.id);
    const asked = await change(board.id, { add: [bo.user_id] });
    expect(asked).toMatchObject({
      applied: false,
      preview: {
        widens: true,
        loses: [],
        opens_to_everyone: 0,
        gains: [
          { user_id: bo.user_id, user_name: 'Bo', node_count: 1, sample: [{ node_id: nodeId, node_name: 'Vault' }] },
        ],
      },
    });
    expect(await sees(bo, nodeId)).toBe(false);
    expect(await harness.call(listGroupMembers, { group_id: board.id }, admin)).toMatchObject({ items: [] });
    expect(await change(board.id, { add: [bo.user_id], confirmed: true })).toMatchObject({ applied: true });
    expect([await sees(bo, nodeId), await sees(eve, nodeId)]).toEqual([true, false]);
  });

  it('lose it at once when they leave [access.group.membership-followed]', async () => {
    const board = await group('Board');
    const nodeId = await sharedWith(board.id);
    await change(board.id, { add: [bo.user_id], confirmed: true });
    const left = await change(board.id, { remove: [bo.user_id] });
    expect(left).toMatchObject({
      applied: true,
      preview: { widens: false, gains: [], loses: [{ user_id: bo.user_id, node_count: 1 }] },
    });
    expect(await sees(bo, nodeId)).toBe(false);
  });
});

describe('deleting a group', () => {
  it('first tells who loses, then leaves every list and opens nothing [identity.groups.delete-never-widens]', async () => {
    const board = await group('Board');
    const nodeId = await sharedWith(board.id);
    await change(board.id, { add: [bo.user_id], confirmed: true });
    const asked = await harness.call(deleteGroup, { group_id: board.id }, admin);
    expect(asked).toMatchObject({
      applied: false,
      preview: { widens: false, loses: [{ user_id: bo.user_id, node_count: 1 }] },
    });
    expect(await sees(bo, nodeId)).toBe(true);
    await harness.call(deleteGroup, { group_id: board.id, confirmed: true }, admin);
    expect([await sees(bo, nodeId), await sees(eve, nodeId)]).toEqual([false, false]);
    const { rows } = await harness.database.pool.query(
      `SELECT FROM graph.share UNION ALL SELECT FROM graph.gate_grant WHERE principal_id = $1`,
      [board.id],
    );
    expect(rows).toEqual([]);
    expect(await harness.database.prisma.auditEntry.findFirst({ where: { action: 'delete_group' } })).toMatchObject({
      before: { name: 'Board', member_ids: [bo.user_id], node_ids: [nodeId] },
    });
  });
});
