import {
  type AccessLevel,
  type AccessRequest,
  approveAccessRequest,
  archiveNode,
  type Caller,
  getAccess,
  getNode,
  LIMITS,
  listAccessRequests,
  purgeNode,
  refuseAccessRequest,
  requestAccess,
  setAccess,
  withdrawAccessRequest,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
let asker: Caller;
beforeAll(async () => {
  graph = await startGraph();
});
beforeEach(async () => {
  asker = await graph.user('Asa');
});
afterAll(() => graph.close());

async function hiddenNode(name: string, parentIds: string[] = []): Promise<string> {
  const { id } = await graph.node('area', name, { parent_ids: parentIds, visibility: 'private' });
  return id;
}
const ask = (nodeId: string, access: AccessLevel = 'read', caller: Caller = asker): Promise<AccessRequest> =>
  graph.call(requestAccess, { node_id: nodeId, access, reason: 'for the audit' }, caller);
const approve = (id: string, confirmed = true) =>
  graph.call(approveAccessRequest, { access_request_id: id, confirmed }, graph.admin);
const sees = async (nodeId: string): Promise<boolean> =>
  graph.call(getNode, { node_id: nodeId }, asker).then(
    () => true,
    () => false,
  );

/** A request without what names it. */
function shape({ id, node_id, requested_at, requested_by, ...rest }: AccessRequest): object {
  expect([typeof id, typeof node_id, typeof requested_at]).toEqual(['string', 'string', 'string']);
  return { ...rest, requested_by: requested_by.name };
}

describe('asking for access', () => {
  it('answers alike for a hidden node and for none [access.request.ask] [access.hidden.indistinguishable-from-absent]', async () => {
    const hidden = await hiddenNode('Vault');
    const [first, second] = [await ask(hidden), await ask(newId())];
    expect(shape(first)).toEqual(shape(second));
    expect(shape(first)).toEqual({
      access: 'read',
      reason: 'for the audit',
      state: 'pending',
      requested_by: 'Asa',
      decided_at: null,
      decision_note: null,
    });
    expect((await graph.call(listAccessRequests, {}, asker)).items).toEqual([second, first]);
  });

  it('again answers the pending request, also twice at once [access.request.ask]', async () => {
    const hidden = await hiddenNode('Once');
    const asked = await Promise.all([ask(hidden), ask(hidden), ask(hidden, 'write')]);
    expect(new Set(asked.map((request) => request.id)).size).toBe(1);
    expect(await ask(hidden)).toEqual(asked[0]);
  });

  it('for what one has is CONFLICT, for more it is not', async () => {
    const { id } = await graph.node('area', 'Open');
    await graph.refusal(requestAccess, { node_id: id, access: 'write' }, asker, 'CONFLICT');
    await graph.call(
      setAccess,
      {
        node_id: id,
        visibility: 'group',
        recipients: [{ kind: 'user', id: asker.user_id, access: 'read' }],
        confirmed: true,
      },
      graph.admin,
    );
    await graph.refusal(requestAccess, { node_id: id, access: 'read' }, asker, 'CONFLICT');
    expect(await ask(id, 'write')).toMatchObject({ state: 'pending', access: 'write' });
  });

  it('ends at a limit of pending requests, whatever exists', async () => {
    const hidden = await hiddenNode('Too many');
    const asked = [];
    for (let index = 0; index < LIMITS.pendingAccessRequestsPerUser; index += 1) asked.push(await ask(newId()));
    const [first, second] = [
      await graph.refusal(requestAccess, { node_id: hidden }, asker, 'CONFLICT'),
      await graph.refusal(requestAccess, { node_id: newId() }, asker, 'CONFLICT'),
    ];
    expect(first.toBody('r')).toEqual(second.toBody('r'));
    await graph.call(withdrawAccessRequest, { access_request_id: asked[0]?.id ?? '' }, asker);
    expect(await ask(hidden)).toMatchObject({ state: 'pending' });
  });

  it('leaves the same answer after the node is purged as for a node that never was', async () => {
    const hidden = await hiddenNode('Going');
    const request = await ask(hidden);
    await graph.call(purgeNode, { node_id: hidden, confirmed: true }, graph.admin);
    expect((await graph.call(listAccessRequests, {}, asker)).items).toEqual([request]);
    expect(await ask(hidden)).toEqual(request);
  });
});

describe('access requests', () => {
  it("are listed to manage for nodes that exist, below it one's own [access.request.list-at-manage]", async () => {
    const hidden = await hiddenNode('Listed');
    const [real, idle] = [await ask(hidden), await ask(newId())];
    await graph.refusal(listAccessRequests, { mine: false }, asker, 'FORBIDDEN');
    const all = await graph.call(listAccessRequests, { mine: false, state: 'pending', limit: 500 }, graph.admin);
    expect(all.items).toContainEqual(real);
    expect(all.items).not.toContainEqual(idle);
    const first = await graph.call(listAccessRequests, { limit: 1 }, asker);
    const second = await graph.call(listAccessRequests, { limit: 1, cursor: first.next_cursor ?? '' }, asker);
    expect([...first.items, ...second.items]).toEqual([idle, real]);
    expect(second.next_cursor).toBeNull();
  });

  it('approved add the requester to every list that shuts them out, once confirmed [access.request.approve]', async () => {
    const [left, right] = [await hiddenNode('Left'), await hiddenNode('Right')];
    const { id } = await graph.node('project', 'Under both', { parent_ids: [left, right] });
    await graph.call(
      setAccess,
      {
        node_id: right,
        visibility: 'group',
        recipients: [{ kind: 'user', id: asker.user_id, access: 'read' }],
        confirmed: true,
      },
      graph.admin,
    );
    const request = await ask(id, 'write');
    const asked = await approve(request.id, false);
    expect(asked).toMatchObject({
      applied: false,
      access_request: request,
      preview: { widens: true, gains: [{ user_id: asker.user_id, node_count: 3 }] },
    });
    expect(await sees(id)).toBe(false);
    const approved = await approve(request.id);
    expect(approved).toMatchObject({
      applied: true,
      preview: asked.preview,
      access_request: { id: request.id, state: 'approved' },
    });
    expect(await graph.call(getNode, { node_id: id }, asker)).toMatchObject({ access: { level: 'write' } });
    for (const gate of [left, right]) {
      expect((await graph.call(getAccess, { node_id: gate }, graph.admin)).own).toEqual({
        visibility: 'group',
        recipients: [{ kind: 'user', id: asker.user_id, name: 'Asa', access: 'write' }],
      });
    }
    const audited = await graph.database.prisma.auditEntry.findMany({
      where: { action: 'approve_access_request', targetId: { in: [left, right, request.id] } },
    });
    expect(audited).toHaveLength(3);
  });

  it('approved leave creator and owner of a private node in', async () => {
    const hidden = await hiddenNode('Still mine');
    await approve((await ask(hidden)).id);
    const creator: Caller = { ...graph.admin, scope: 'read' };
    expect(await graph.call(getNode, { node_id: hidden }, creator)).toMatchObject({
      access: { level: 'write', mode: 'group' },
    });
    expect(await sees(hidden)).toBe(true);
  });

  it('refused give nothing and keep who refused and why [access.request.refuse]', async () => {
    const hidden = await hiddenNode('Refused');
    const request = await ask(hidden);
    await graph.refusal(refuseAccessRequest, { access_request_id: request.id }, asker, 'FORBIDDEN');
    const refused = await graph.call(
      refuseAccessRequest,
      { access_request_id: request.id, note: 'not yours' },
      graph.admin,
    );
    expect(refused).toMatchObject({ state: 'refused', decision_note: 'not yours', decided_at: expect.any(String) });
    expect(await sees(hidden)).toBe(false);
    expect(await graph.database.prisma.accessRequest.findUnique({ where: { id: request.id } })).toMatchObject({
      decidedBy: graph.admin.user_id,
    });
  });

  it('are withdrawn by their asker and nobody else [access.request.withdraw]', async () => {
    const request = await ask(await hiddenNode('Withdrawn'));
    const other = await graph.refusal(
      withdrawAccessRequest,
      { access_request_id: request.id },
      graph.writer,
      'ACCESS_REQUEST_NOT_FOUND',
    );
    const absentId = newId();
    const absent = await graph.refusal(
      withdrawAccessRequest,
      { access_request_id: absentId },
      graph.writer,
      'ACCESS_REQUEST_NOT_FOUND',
    );
    expect(JSON.stringify(other.toBody('r')).replaceAll(request.id, absentId)).toBe(JSON.stringify(absent.toBody('r')));
    await graph.refusal(
      withdrawAccessRequest,
      { access_request_id: request.id },
      graph.admin,
      'ACCESS_REQUEST_NOT_FOUND',
    );
    expect(await graph.call(withdrawAccessRequest, { access_request_id: request.id }, asker)).toMatchObject({
      state: 'withdrawn',
    });
  });

  it('are decided once, whoever is faster [access.request.decided-once]', async () => {
    const request = await ask(await hiddenNode('Raced'));
    const decided = await Promise.allSettled([
      approve(request.id),
      graph.call(refuseAccessRequest, { access_request_id: request.id }, graph.admin),
      graph.call(withdrawAccessRequest, { access_request_id: request.id }, asker),
    ]);
    expect(decided.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    const current = (await graph.call(listAccessRequests, {}, asker)).items[0];
    for (const one of decided)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'CONFLICT', details: { current } });
  });

  it('of a user who is disabled cannot be approved, nor shown what it would give, until they are enabled', async () => {
    const hidden = await hiddenNode('Left the house');
    const request = await ask(hidden);
    const disable = (disabled: boolean) =>
      graph.sql('UPDATE identity."user" SET disabled_at = CASE WHEN $2 THEN now() END WHERE id = $1', [
        asker.user_id,
        disabled,
      ]);
    await disable(true);
    for (const confirmed of [false, true]) {
      const refused = await graph.refusal(
        approveAccessRequest,
        { access_request_id: request.id, confirmed },
        graph.admin,
        'CONFLICT',
      );
      expect(refused.toBody('r')).toMatchObject({
        message: 'The user Asa is disabled: refuse the access request, or enable the user first.',
        details: { user_id: asker.user_id, current: request },
      });
    }
    expect((await graph.call(getAccess, { node_id: hidden }, graph.admin)).own).toMatchObject({ recipients: [] });
    await disable(false);
    expect(await approve(request.id)).toMatchObject({ applied: true });
    const second = await ask(await hiddenNode('Left again'));
    await disable(true);
    expect(await graph.call(refuseAccessRequest, { access_request_id: second.id }, graph.admin)).toMatchObject({
      state: 'refused',
    });
  });

  it('of somebody who got the access in another way are approved and change no list', async () => {
    const hidden = await hiddenNode('Shared meanwhile');
    const request = await ask(hidden);
    const { id: groupless } = await graph.node('area', 'Archived meanwhile', { visibility: 'private' });
    const archived = await ask(groupless);
    await graph.call(
      setAccess,
      {
        node_id: hidden,
        visibility: 'group',
        recipients: [{ kind: 'user', id: asker.user_id, access: 'write' }],
        confirmed: true,
      },
      graph.admin,
    );
    await graph.call(archiveNode, { node_id: groupless }, graph.admin);
    const before = await graph.call(getAccess, { node_id: hidden }, graph.admin);
    expect(await approve(request.id)).toMatchObject({ applied: true, preview: { widens: false, gains: [] } });
    expect(await graph.call(getAccess, { node_id: hidden }, graph.admin)).toEqual(before);
    expect(await approve(archived.id)).toMatchObject({ applied: true, preview: { widens: true } });
  });

  it('are approved once by two managers at the same time', async () => {
    const hidden = await hiddenNode('Two keys');
    const request = await ask(hidden);
    const other = await graph.user('Boss', 'manage');
    const decided = await Promise.allSettled([
      approve(request.id),
      graph.call(approveAccessRequest, { access_request_id: request.id, confirmed: true }, other),
    ]);
    expect(decided.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect((await graph.call(getAccess, { node_id: hidden }, graph.admin)).own?.recipients).toHaveLength(1);
  });

  it('for a node that is gone cannot be approved', async () => {
    const hidden = await hiddenNode('Gone');
    const request = await ask(hidden);
    await graph.call(purgeNode, { node_id: hidden, confirmed: true }, graph.admin);
    await graph.refusal(approveAccessRequest, { access_request_id: request.id }, graph.admin, 'NODE_NOT_FOUND');
    await graph.refusal(approveAccessRequest, { access_request_id: newId() }, graph.admin, 'ACCESS_REQUEST_NOT_FOUND');
  });
});
