import { randomUUID } from 'node:crypto';
import {
  addResponsibility,
  connect,
  createActor,
  createGroup,
  createNode,
  createToken,
  createUser,
  type ErrorBody,
  getNode,
  listAudit,
  listEvents,
  listNodes,
  logEvent,
  type Node,
  type Operation,
  purgeNode,
  setAccess,
  supersedeEvent,
  updateNode,
} from '@workspace-graph/contracts';
import { RestClient } from '../central/rest-client.js';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const AT_ONCE = 8;

const folder = new WorkspaceFolder({ isStarted: true });
let owner: RestClient;
let organization: Node;

beforeAll(async () => {
  const { url } = await folder.start();
  owner = new RestClient(url, folder.token);
  organization = await owner.call(createNode, { type: 'organization', name: 'Repeated' });
}, START_MS);
afterAll(() => folder[Symbol.asyncDispose]());

const project = (name: string): Promise<Node> =>
  owner.call(createNode, { type: 'project', name, organization_id: organization.id });

interface Answer {
  readonly status: number;
  readonly tag: string | null;
  readonly body: unknown;
}

async function send(operation: Operation, input: object, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const response = await owner.send(operation, input as Record<string, unknown>, headers);
  return { status: response.status, tag: response.headers.get('etag'), body: await response.json() };
}

/** Changes of every kind, each with what it needs. */
const CHANGES: readonly (readonly [string, Operation, () => Promise<object>])[] = [
  ['a new node', createNode, async () => ({ type: 'organization', name: `Once ${randomUUID()}` })],
  ['a change of a node', updateNode, async () => ({ node_id: (await project('Changed')).id, name: 'Changed once' })],
  [
    'an edge',
    connect,
    async () => {
      const [source, target] = [await project('Source'), await project('Target')];
      return { source_id: source.id, target_id: target.id, relation: 'informed_by' };
    },
  ],
  ['an event', logEvent, async () => ({ node_id: organization.id, kind: 'note', content: `Once ${randomUUID()}` })],
  [
    'a newer event',
    supersedeEvent,
    async () => {
      const event = await owner.call(logEvent, { node_id: organization.id, kind: 'decision', content: 'First' });
      return { event_id: event.id, content: 'Second' };
    },
  ],
  ['a responsibility', addResponsibility, async () => ({ node_id: (await project('Duties')).id, title: 'Lead' })],
  ['an actor', createActor, async () => ({ type: 'automation', name: 'Once' })],
  ['a user', createUser, async () => ({ name: 'Once' })],
  ['a group', createGroup, async () => ({ name: `Once ${randomUUID()}` })],
  ['sharing', setAccess, async () => ({ node_id: (await project('Shared')).id, visibility: 'private' })],
  ['the end of a node', purgeNode, async () => ({ node_id: (await project('Gone')).id, confirmed: true })],
];

describe('a change that is sent again under its Idempotency-Key', () => {
  it.each(CHANGES)('is carried out once and answered as before: %s', async (_what, operation, prepare) => {
    const [key, input] = [randomUUID(), await prepare()];
    const before = await auditCount(operation.name);
    const first = await send(operation, input, { 'idempotency-key': key });
    const again = await send(operation, input, { 'idempotency-key': key });
    expect(first.status).toBeLessThan(300);
    expect(again).toEqual(first);
    expect(await auditCount(operation.name)).toBe(before + 1);
  });

  it.each(CHANGES)(
    'many times at once is carried out once and answered alike: %s',
    async (_what, operation, prepare) => {
      const [key, input] = [randomUUID(), await prepare()];
      const before = await auditCount(operation.name);
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, () => send(operation, input, { 'idempotency-key': key })),
      );
      expect(answers[0]?.status).toBeLessThan(300);
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(await auditCount(operation.name)).toBe(before + 1);
    },
  );

  it('is refused when it is another change, and never shows a secret twice', async () => {
    const key = randomUUID();
    const note = { node_id: organization.id, kind: 'note' as const };
    await owner.call(logEvent, { ...note, content: 'The one' }, { 'idempotency-key': key });
    const other = await owner.refusal(logEvent, { ...note, content: 'The other' }, { 'idempotency-key': key });
    expect(other).toMatchObject({ status: 409, code: 'CONFLICT' });
    const { items } = await owner.call(listEvents, { node_id: organization.id, limit: 500 });
    expect(items.map((event) => event.content)).not.toContain('The other');

    const token = { label: 'shown once', scope: 'read' as const };
    const made = await owner.call(createToken, token, { 'idempotency-key': key });
    const again = await owner.refusal(createToken, token, { 'idempotency-key': key });
    expect(again).toMatchObject({ status: 409, code: 'CONFLICT' });
    expect(JSON.stringify(again)).not.toContain(made.secret);
  });

  it('is answered like a new one once its caller may see the node no more [access.hidden.no-kept-reply]', async () => {
    const [node, user] = [
      await project('Seen at first'),
      await owner.call(createUser, { name: 'Will', max_scope: 'write' }),
    ];
    const { secret } = await owner.call(createToken, { label: 'Will', scope: 'write', user_id: user.id });
    const writer = new RestClient(owner.url, secret);
    const [key, event] = [randomUUID(), { node_id: node.id, kind: 'note' as const, content: 'While I could' }];
    const first = await writer.call(logEvent, event, { 'idempotency-key': key });
    expect(await writer.call(logEvent, event, { 'idempotency-key': key })).toEqual(first);
    await owner.call(setAccess, { node_id: node.id, visibility: 'private' });
    const fresh = { ...(await writer.refusal(logEvent, event)), request_id: '' };
    expect(fresh).toMatchObject({ status: 404, code: 'NODE_NOT_FOUND' });
    const again = await writer.refusal(logEvent, event, { 'idempotency-key': key });
    expect({ ...again, request_id: '' }).toEqual(fresh);
    await owner.call(purgeNode, { node_id: node.id, confirmed: true });
    const purged = await writer.refusal(logEvent, event, { 'idempotency-key': key });
    expect({ ...purged, request_id: '' }).toEqual(fresh);
  });
});

describe('two who change the same node', () => {
  it('never lose a change of each other: the later is told what is there now [errors.conflict, graph.node.version-increments]', async () => {
    const node = await project('Contested');
    const read = await owner.send(getNode, { node_id: node.id });
    const tag = read.headers.get('etag') ?? '';
    await read.text();
    const rename = (name: string): Promise<Response> =>
      owner.send(updateNode, { node_id: node.id, name }, { 'if-match': tag });
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => rename(`Mine ${index}`)));
    const bodies = await Promise.all(
      answers.map(async (answer) => ({ status: answer.status, body: await answer.json() })),
    );
    const [winner, ...more] = bodies.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    const current = await owner.call(getNode, { node_id: node.id });
    expect(winner?.body).toMatchObject({ node: current });
    for (const { body } of bodies.filter(({ status }) => status === 409))
      expect(body as ErrorBody).toMatchObject({ code: 'CONFLICT', details: { current } });
    const retried = await owner.send(
      updateNode,
      { node_id: node.id, name: 'Mine at last' },
      { 'if-match': `"${current.version}"` },
    );
    expect([retried.status, retried.headers.get('etag')]).toEqual([200, `"${current.version + 1}"`]);
    await retried.text();
    expect((await owner.call(listNodes, { query: 'Mine at last' })).items).toHaveLength(1);
  });
});

async function auditCount(action: string): Promise<number> {
  const { items } = await owner.call(listAudit, { action, limit: 500 });
  return items.length;
}
