import { randomUUID } from 'node:crypto';
import {
  addToSessionScope,
  type Caller,
  expandScope,
  getSession,
  getSessionScope,
  getSessionSignals,
  initSession,
  LIMITS,
  listNodeSessions,
  listSessions,
  logSession,
  readSessionLogs,
  reviewScope,
} from '@workspace-graph/contracts';
import { SessionWorld } from '../testing/session.fixture.js';
import type { Connected } from '../testing/session-calls.js';

let world: SessionWorld;
let near: string;
let far: string;
let island: string;
beforeAll(async () => {
  world = await SessionWorld.start();
  [near, far, island] = [await world.node('Near'), await world.node('Far'), await world.node('Island')];
  await join(world.nodeId, near);
  await join(near, far);
});
afterAll(() => world[Symbol.asyncDispose]());

async function join(one: string, other: string): Promise<void> {
  await world.sql(
    `INSERT INTO graph.edge (id, source_id, target_id, relation) VALUES (gen_random_uuid(), $1, $2, 'related_to')`,
    [one, other],
  );
}

/** An agent of the owner with its session. */
async function agentAt(
  nodeId?: string,
  person: Caller = world.owner,
): Promise<{ agent: Caller; connected: Connected }> {
  const connected = await world.connect(nodeId === undefined ? { node_id: undefined } : { node_id: nodeId }, person);
  return { connected, agent: { ...person, via: 'mcp', session_id: connected.session.id } };
}

const scopeOf = async (sessionId: string, caller = world.owner): Promise<Record<string, string>> => {
  const { items } = await world.harness.call(getSessionScope, { session_id: sessionId }, caller);
  return Object.fromEntries(
    items.map(({ node, access, added_via, review }) => [
      node.name,
      [access, added_via, review].filter(Boolean).join(' '),
    ]),
  );
};
const expand = (agent: Caller, node_ids: string[], access: 'read' | 'write' = 'read') =>
  world.harness.call(expandScope, { node_ids, access, reason: 'to compare' }, agent);

describe('the scope of a session', () => {
  it('begins with the home node to change and its neighbours to read, as far as its person sees them', async () => {
    const secret = await world.node('Secret', []);
    await join(world.nodeId, secret);
    const { connected } = await agentAt(world.nodeId);
    expect(await scopeOf(connected.session.id)).toEqual({ Home: 'write seed', Near: 'read seed' });
    expect(connected.session).toMatchObject({ read_count: 2, write_count: 1 });
  });

  it('grows by a call with a reason, which is entered with how each node joined', async () => {
    const { agent, connected } = await agentAt(world.nodeId);
    const { added, ...counts } = await expand(agent, [far, near, island, far]);
    expect(added.map(({ name, access, added_via }) => [name, access, added_via]).sort()).toEqual([
      ['Far', 'read', 'expand'],
      ['Island', 'read', 'disconnected'],
    ]);
    expect(counts).toEqual({ read_count: 4, write_count: 1 });
    expect((await expand(agent, [far])).added).toEqual([]);
    const changes = (await world.log(connected.session.id)).filter(({ kind }) => kind === 'scope_changed');
    expect(changes.map(({ payload }) => payload)).toEqual(
      expect.arrayContaining([
        { node_ids: [far], access: 'read', added_via: 'expand', reason: 'to compare' },
        { node_ids: [island], access: 'read', added_via: 'disconnected', reason: 'to compare' },
      ]),
    );
    expect(changes).toHaveLength(2);
    const signals = await world.harness.call(getSessionSignals, { session_id: connected.session.id }, world.owner);
    expect(signals).toMatchObject({ read_count: 4, write_count: 1, expansions: 2 });
  });

  it('raises a node from read to write, and never lowers it', async () => {
    const { agent, connected } = await agentAt(world.nodeId);
    expect((await expand(agent, [near], 'write')).added).toMatchObject([{ access: 'write', added_via: 'expand' }]);
    expect((await expand(agent, [near], 'read')).added).toEqual([]);
    expect(await scopeOf(connected.session.id)).toEqual({ Home: 'write seed', Near: 'write expand' });
  });

  it('counts the first nodes of a session without a home node as joined: there is nothing yet to be joined to', async () => {
    const { agent, connected } = await agentAt();
    expect(await scopeOf(connected.session.id)).toEqual({});
    await expand(agent, [island]);
    await expand(agent, [far]);
    expect(await scopeOf(connected.session.id)).toEqual({ Island: 'read expand', Far: 'read disconnected' });
  });

  it('does not tell how a node is joined to one that its person does not see any more [access.hidden.nowhere]', async () => {
    const [hub, spoke, loose] = [
      await world.node('Hub', [world.owner]),
      await world.node('Spoke'),
      await world.node('Loose'),
    ];
    await join(hub, spoke);
    const { agent } = await agentAt(world.nodeId);
    await expand(agent, [hub]);
    await world.share(hub, [world.manager]);
    const { added } = await expand(agent, [spoke, loose]);
    expect(added.map(({ added_via }) => added_via)).toEqual(['disconnected', 'disconnected']);
  });

  it('does not grow beyond what the credential and the person may do', async () => {
    const closed = await world.node('Closed', [world.owner]);
    const { agent } = await agentAt(world.nodeId);
    const reading: Caller = { ...agent, scope: 'read' };
    const input = { node_ids: [near], access: 'write', reason: 'x' };
    const refused = await world.harness.refusal(expandScope, input, reading, 'FORBIDDEN');
    expect(refused.details).toEqual({ required_scope: 'write' });
    await world.harness.refusal(expandScope, { ...input, node_ids: [closed] }, agent, 'FORBIDDEN');
    const hidden = await world.node('Hidden', [world.manager]);
    const bodies: string[] = [];
    for (const id of [hidden, randomUUID()]) {
      const error = await world.harness.refusal(expandScope, { ...input, node_ids: [id] }, agent, 'NODE_NOT_FOUND');
      bodies.push(JSON.stringify(error.toBody('r')).replaceAll(id, 'ID'));
    }
    expect(bodies[0]).toBe(bodies[1]);
  });

  it('is for agents with a session, in their own name alone', async () => {
    await world.harness.refusal(expandScope, { node_ids: [far], reason: 'x' }, world.owner, 'VALIDATION_FAILED');
    await world.harness.refusal(initSession, {}, world.owner, 'VALIDATION_FAILED');
    const { agent } = await agentAt(world.nodeId);
    const thief: Caller = { ...world.manager, via: 'mcp', session_id: agent.session_id ?? null };
    await world.harness.refusal(expandScope, { node_ids: [far], reason: 'x' }, thief, 'SESSION_NOT_FOUND');
  });
});

describe('an agent that begins', () => {
  it('is told its home node, its scope and the handoff, and anchors a session that has no home node', async () => {
    const { agent, connected } = await agentAt();
    expect(await world.harness.call(initSession, {}, agent)).toMatchObject({
      session: { id: connected.session.id, node: null },
      scope: { read: [], write: [], complete: true },
      handoff: null,
    });
    await expand(agent, [world.nodeId]);
    await world.harness.call(logSession, { kind: 'handoff', title: 'Half done', text: 'The rest is open.' }, agent);
    const standing = await world.harness.call(initSession, { node_id: world.nodeId }, agent);
    expect(standing).toMatchObject({
      session: { node: { name: 'Home' }, state: 'running' },
      scope: { read: [{ name: 'Near' }], write: [{ name: 'Home' }], complete: true },
      handoff: { title: 'Half done', text: 'The rest is open.', written_by: 'agent' },
    });
    expect(standing.session.name).toMatch(/^Home · /);
    const { items } = await world.harness.call(listNodeSessions, { node_id: world.nodeId }, world.owner);
    expect(items.map(({ id }) => id)).toContain(connected.session.id);
    expect(await world.harness.call(initSession, { node_id: world.nodeId }, agent)).toEqual(standing);
    const error = await world.harness.refusal(initSession, { node_id: far }, agent, 'CONFLICT');
    expect(error.message).toContain('svc_expand_scope');
  });

  it('lists the sessions that it may read: its own one, and those of nodes that it holds', async () => {
    const [{ agent, connected }, there, homeless] = [await agentAt(world.nodeId), await agentAt(far), await agentAt()];
    const listed = async (caller: Caller): Promise<string[]> => {
      const { items } = await world.harness.call(listSessions, { limit: LIMITS.listMax }, caller);
      return items.map(({ id }) => id);
    };
    const [own, other] = [connected.session.id, there.connected.session.id];
    expect(await listed(world.owner)).toEqual(expect.arrayContaining([own, other]));
    expect(await listed(agent)).toContain(own);
    expect(await listed(agent)).not.toContain(other);
    await world.harness.refusal(getSession, { session_id: other }, agent, 'scope_expansion_required');
    expect(await listed(homeless.agent)).toContain(homeless.connected.session.id);
    expect(await listed(homeless.agent)).not.toContain(own);
    await expand(agent, [far]);
    expect(await listed(agent)).toContain(other);
  });

  it('writes messages and a handoff into its own log while it runs', async () => {
    const { agent, connected } = await agentAt(world.nodeId);
    const { seq } = await world.harness.call(logSession, { text: 'Looking around.' }, agent);
    expect((await world.log(connected.session.id)).find((event) => event.seq === seq)).toMatchObject({
      kind: 'assistant_message',
      payload: { text: 'Looking around.' },
      run_id: connected.run_id,
    });
    const error = await world.harness.refusal(logSession, { kind: 'handoff', text: 'x' }, agent, 'VALIDATION_FAILED');
    expect(error.details).toMatchObject({ issues: [{ path: 'title' }] });
    const lines = { kind: 'handoff' as const, title: 'Half done\n# Rules', text: 'x' };
    const refused = await world.harness.refusal(logSession, lines, agent, 'VALIDATION_FAILED');
    expect(refused.message).toBe('title: must not contain control characters');
    await world.end(connected, { outcome: 'completed' });
    await world.harness.refusal(logSession, { text: 'Too late.' }, agent, 'NO_LIVE_RUN');
  });
});

describe('a person who looks at what a session holds', () => {
  const decide = (caller: Caller, session_id: string, node_id: string, decision: 'accept' | 'reject') =>
    world.harness.call(reviewScope, { session_id, node_id, decision }, caller);

  it('takes a node out also as the home of a session that has none yet', async () => {
    const { agent, connected } = await agentAt();
    await expand(agent, [island]);
    await decide(world.owner, connected.session.id, island, 'reject');
    await world.harness.refusal(initSession, { node_id: island }, agent, 'FORBIDDEN');
    expect(await world.harness.call(getSession, { session_id: connected.session.id }, world.owner)).toMatchObject({
      node: null,
    });
  });

  it('finds the nodes that no edge joins, accepts them, or rejects them: the agent cannot bring those back, the owner can', async () => {
    const { agent, connected } = await agentAt(world.nodeId);
    const session_id = connected.session.id;
    await expand(agent, [island, far]);
    const queue = async (): Promise<string[]> =>
      (await world.harness.call(getSessionScope, { session_id, unreviewed: true }, world.owner)).items.map(
        ({ node }) => node.name,
      );
    expect(await queue()).toEqual(['Island']);
    await decide(world.owner, session_id, island, 'accept');
    expect(await queue()).toEqual([]);
    expect(await decide(world.manager, session_id, far, 'reject')).toMatchObject({ read_count: 3 });
    expect(await scopeOf(session_id)).toMatchObject({
      Island: 'read disconnected accepted',
      Far: 'read expand rejected',
    });
    const refused = await world.harness.refusal(expandScope, { node_ids: [far], reason: 'again' }, agent, 'FORBIDDEN');
    expect(refused.message).toContain('A person has taken the node');
    await world.harness.call(addToSessionScope, { session_id, node_ids: [far], access: 'write' }, world.owner);
    expect(await scopeOf(session_id)).toMatchObject({ Far: 'write user' });
    const last = (await world.log(session_id)).filter(({ kind }) => kind === 'scope_changed').slice(-2);
    expect(last.map(({ payload }) => payload)).toEqual([
      { node_ids: [far], access: null, added_via: 'expand' },
      { node_ids: [far], access: 'write', added_via: 'user' },
    ]);
  });

  it('is the owner, or manages; what is not there, hidden or absent, is told alike, and the home node stays', async () => {
    const { connected } = await agentAt(world.nodeId);
    const session_id = connected.session.id;
    const other: Caller = { ...world.reader, scope: 'write' };
    const input = { session_id, node_id: near, decision: 'reject' };
    await world.harness.refusal(reviewScope, input, other, 'SESSION_FORBIDDEN');
    await world.harness.refusal(addToSessionScope, { session_id, node_ids: [far] }, world.manager, 'SESSION_FORBIDDEN');
    await world.harness.refusal(reviewScope, { ...input, node_id: far }, world.owner, 'NODE_NOT_FOUND');
    await world.harness.refusal(reviewScope, { ...input, node_id: world.nodeId }, world.owner, 'CONFLICT');
    expect(await decide(world.owner, session_id, near, 'reject')).toMatchObject({ read_count: 1 });
    await world.harness.refusal(reviewScope, { ...input, decision: 'accept' }, world.owner, 'CONFLICT');
  });
});

describe('to those who see a session', () => {
  it('its scope and the changes of it name the nodes that they see, and the live channel none', async () => {
    const secret = await world.node('Secret of the owner', [world.owner, world.manager]);
    const { agent, connected } = await agentAt(world.nodeId);
    const { id: session_id } = connected.session;
    await expand(agent, [secret, far]);
    expect(Object.keys(await scopeOf(session_id, world.reader)).sort()).toEqual(['Far', 'Home', 'Near']);
    const named = async (caller: Caller): Promise<unknown[]> =>
      (await world.log(session_id, caller)).flatMap((event) =>
        event.kind === 'scope_changed' ? event.payload.node_ids : [],
      );
    expect((await named(world.owner)).sort()).toEqual([secret, far].sort());
    expect(await named(world.reader)).toEqual([far]);
    expect(await world.harness.call(getSession, { session_id }, world.reader)).toMatchObject({ read_count: 3 });
    const { logs } = await world.harness.call(
      readSessionLogs,
      {
        viewers: [{ user_id: world.owner.user_id, sees_all: false }],
        sessions: [{ session_id, after: 0, viewers: [0] }],
      },
      world.owner,
    );
    expect(JSON.stringify(logs)).not.toContain(far);
    expect(JSON.stringify(logs)).not.toContain(secret);
  });

  it('why it grew is told with the nodes that they see, and never by hidden ones alone', async () => {
    const secret = await world.node('Secret of the owner', [world.owner, world.manager]);
    const { agent, connected } = await agentAt(world.nodeId);
    const { id: session_id } = connected.session;
    await world.harness.call(expandScope, { node_ids: [far], reason: 'The route leads there.' }, agent);
    await world.harness.call(expandScope, { node_ids: [secret], reason: 'For the layoffs.' }, agent);
    const reasons = async (caller: Caller): Promise<unknown[]> =>
      (await world.log(session_id, caller)).flatMap((event) =>
        event.kind === 'scope_changed' ? [event.payload.reason] : [],
      );
    for (const caller of [world.owner, world.manager])
      expect(await reasons(caller)).toEqual(['The route leads there.', 'For the layoffs.']);
    expect(await reasons(world.reader)).toEqual(['The route leads there.', undefined]);
  });
});
