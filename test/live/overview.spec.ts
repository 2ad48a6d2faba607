import { randomUUID } from 'node:crypto';
import {
  appendSessionEvents,
  type Caller,
  expandScope,
  getContext,
  getOverview,
  logEvent,
  logSession,
  reviewScope,
  setAccess,
  suspendSession,
} from '@workspace-graph/contracts';
import { LiveWorld, type Person } from './live-world.js';

let world: LiveWorld;
let owner: Person;
let other: Person;
beforeAll(async () => {
  world = await LiveWorld.start();
});
beforeEach(async () => {
  owner = await world.person(`Olga ${Math.random()}`, 'write');
  other = await world.person(`Otto ${Math.random()}`, 'write');
});
afterAll(() => world[Symbol.asyncDispose]());

type Session = Awaited<ReturnType<LiveWorld['connect']>>;

const overview = (person: Person) => world.call(getOverview, {}, person.caller);
const agentOf = (person: Person, { id }: Session): Caller => ({ ...person.caller, via: 'mcp', session_id: id });
const expand = (person: Person, session: Session, node_id: string, access: 'read' | 'write') =>
  world.call(expandScope, { node_ids: [node_id], access, reason: 'to compare' }, agentOf(person, session));
const ask = (person: Person, session: Session) => {
  const payload = { request_id: 'q', type: 'input', title: 'Which?', text: 'Which one?' };
  const events = [{ id: randomUUID(), kind: 'question', payload }];
  const input = { session_id: session.id, run_id: session.runId, events: events as never };
  return world.call(appendSessionEvents, input, person.caller);
};

describe('the overview', () => {
  it('has own sessions first: with a question, running, suspended; then those of others that are seen [sessions.overview.own-sessions] [sessions.overview.all-visible]', async () => {
    const [node, hidden] = [await world.node('Seen'), await world.node('Unseen')];
    const paused = await world.connect(node.id, owner);
    await world.call(suspendSession, { session_id: paused.id }, owner.caller);
    const waiting = await world.connect(node.id, owner);
    await ask(owner, waiting);
    const homeless = await world.connect(undefined, owner);
    const running = await world.connect(node.id, owner);
    const theirs = await world.connect(node.id, other);
    await world.connect(undefined, other);
    await world.connect(hidden.id, other);
    await world.call(setAccess, { node_id: hidden.id, visibility: 'private' }, world.admin.caller);
    const { sessions } = await overview(owner);
    expect(sessions.items.map(({ id }) => id)).toEqual([waiting.id, running.id, homeless.id, paused.id, theirs.id]);
    expect(sessions).toMatchObject({
      complete: true,
      items: [
        { is_own: true, waiting_since: expect.any(String), agent: 'test-agent' },
        {},
        { node: null },
        { state: 'suspended' },
        { is_own: false },
      ],
    });
  });

  it('has the nodes that wait for a look, for who may review them, until somebody does [sessions.overview.review-queue]', async () => {
    const [home, island] = [await world.node('Home'), await world.node('Island')];
    const session = await world.connect(home.id, owner);
    await expand(owner, session, island.id, 'read');
    const waits = { session: { id: session.id }, node: { id: island.id }, access: 'read', reason: 'to compare' };
    expect((await overview(owner)).review).toMatchObject({ items: [waits], complete: true });
    expect((await overview(world.admin)).review.items).toContainEqual(
      expect.objectContaining({ node: expect.objectContaining({ id: island.id }) }),
    );
    expect((await overview(other)).review.items).toEqual([]);
    await world.call(reviewScope, { session_id: session.id, node_id: island.id, decision: 'accept' }, owner.caller);
    expect((await overview(owner)).review.items).toEqual([]);
  });

  it('mixes nodes that sessions may change from now on with events, by time, and shows none that is hidden [sessions.overview.scope-writes]', async () => {
    const [home, far, secret] = [await world.node('Home'), await world.node('Far'), await world.node('Secret')];
    const session = await world.connect(home.id, owner);
    await world.call(logEvent, { node_id: home.id, kind: 'note', content: 'before' }, owner.caller);
    await expand(owner, session, far.id, 'write');
    await expand(owner, session, secret.id, 'write');
    await world.call(logEvent, { node_id: home.id, kind: 'note', content: 'after' }, owner.caller);
    await world.call(setAccess, { node_id: secret.id, visibility: 'private' }, world.admin.caller);
    const { recent_activity } = await overview(other);
    expect(recent_activity.slice(0, 3)).toMatchObject([
      { node: { id: home.id }, event: { content: 'after' }, session_write: null },
      { node: { id: far.id }, event: null, session_write: { session: { id: session.id }, added_via: 'disconnected' } },
      { node: { id: home.id }, event: { content: 'before' }, session_write: null },
    ]);
  });
});

describe('a context', () => {
  it('tells what other sessions did here, as far as they are seen', async () => {
    const [home, secret] = [await world.node('Home'), await world.node('Secret')];
    const first = await world.connect(home.id, owner);
    const [asFirst, recent] = [
      agentOf(owner, first),
      async (caller: Caller) => (await world.call(getContext, { node_id: home.id }, caller)).recent_sessions,
    ];
    for (const content of ['one', 'two'])
      await world.call(logEvent, { node_id: home.id, kind: 'note', content }, asFirst);
    await world.call(logSession, { kind: 'handoff', title: 'Two notes taken', text: 'More to come.' }, asFirst);
    const elsewhere = await world.connect(secret.id, other);
    await expand(other, elsewhere, home.id, 'write');
    await world.call(logEvent, { node_id: home.id, kind: 'note', content: 'three' }, agentOf(other, elsewhere));
    const told = { id: first.id, state: 'running', handoff: 'Two notes taken', changes: { log: 2 } };
    expect(await recent(world.admin.caller)).toMatchObject([
      { id: elsewhere.id, handoff: null, changes: { log: 1 } },
      told,
    ]);
    await world.call(setAccess, { node_id: secret.id, visibility: 'private' }, world.admin.caller);
    expect(await recent(owner.caller)).toMatchObject([told]);
    expect(await recent(asFirst)).toEqual([]);
  });
});
