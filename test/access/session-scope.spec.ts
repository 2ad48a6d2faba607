import { randomUUID } from 'node:crypto';
import {
  addDataSource,
  addResponsibility,
  archiveEvent,
  archiveNode,
  type Caller,
  connect,
  createActor,
  createNode,
  editEvent,
  isOffered,
  listAudit,
  listNodes,
  logEvent,
  OPERATIONS,
  type Operation,
  purgeNode,
  REACH_FIELDS,
  type ReachKind,
  resolveEvent,
  ServiceError,
  setAccess,
  supersedeEvent,
  updateNode,
} from '@workspace-graph/contracts';
import { DatabaseScopes } from '@workspace-graph/database';
import { newId, OperationRegistry } from '@workspace-graph/platform';
import { GraphModule } from '@workspace-graph/service-graph';
import { SessionModule } from '@workspace-graph/service-session';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { z } from 'zod';

/** One of each kind that belongs to a node, by its id. */
type Things = Readonly<Record<ReachKind, string>>;

let harness: ServiceHarness;
let registry: OperationRegistry;
let admin: Caller;
let writer: Caller;
let organization: string;
let far: string;
let hidden: string;
let ofFar: Things;
let ofHidden: Things;

beforeAll(async () => {
  harness = await startServices([GraphModule, SessionModule.forRoot()]);
  [admin, writer] = [await harness.user('Ada', 'manage'), await harness.user('Will', 'write')];
  organization = (await harness.call(createNode, { type: 'organization', name: 'Acme' }, admin)).id;
  [far, hidden] = [await makeNode('Far'), await makeNode('Hidden')];
  [ofFar, ofHidden] = [await thingsOf(far), await thingsOf(hidden)];
  await harness.call(setAccess, { node_id: hidden, visibility: 'private', confirmed: true }, admin);
  registry = new OperationRegistry();
  registry.scopes = new DatabaseScopes(harness.database);
  registry.find('trash', (id) => [ofFar, ofHidden].find(({ trash }) => trash === id)?.node ?? null);
  for (const operation of OPERATIONS.values())
    registry.addHandler(operation.name, async () => CARRIED_OUT, false, { operation, options: {} });
});
afterAll(() => harness.close());

const CARRIED_OUT = 'carried out';

async function makeNode(name: string): Promise<string> {
  return (await harness.call(createNode, { type: 'project', name, organization_id: organization }, admin)).id;
}

async function thingsOf(node: string): Promise<Things> {
  const event = await harness.call(logEvent, { node_id: node, kind: 'note', content: 'x' }, admin);
  const actor = await harness.call(createActor, { type: 'person', name: `Somebody of ${node}` }, admin);
  const duty = await harness.call(addResponsibility, { node_id: node, title: 'x', assignee_ids: [actor.id] }, admin);
  const link = await harness.call(addDataSource, { node_id: node, name: 'x', url: 'https://example.org' }, admin);
  const { edge } = await harness.call(
    connect,
    { source_id: node, target_id: await makeNode('End'), relation: 'related_to' },
    admin,
  );
  const [file, session, request] = [newId(), newId(), newId()];
  const { pool } = harness.database;
  await pool.query(`INSERT INTO graph.access_request (id, node_id, user_id, access) VALUES ($1, $2, $3, 'write')`, [
    request,
    node,
    writer.user_id,
  ]);
  await pool.query(
    `INSERT INTO file.record (id, node_id, path, path_key, mime_type) VALUES ($1, $2, 'wip/x', 'wip/x', 'text/plain')`,
    [file, node],
  );
  await pool.query(
    `INSERT INTO session.session (id, node_id, owner_id, origin, name) VALUES ($1, $2, $3, 'connection', 'x')`,
    [session, node, admin.user_id],
  );
  return {
    node,
    any: node,
    event: event.id,
    actor: actor.id,
    responsibility: duty.id,
    link: link.id,
    edge: (edge as { id: string }).id,
    access_request: request,
    file,
    session,
    trash: newId(),
  };
}

type JsonSchema = Readonly<Record<string, unknown>> & {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly required?: readonly string[];
};

/** Something that a schema accepts, with ids of nothing. */
function sampleOf(schema: JsonSchema): unknown {
  const { type, format, anyOf, items, properties = {}, required = [] } = schema;
  if (anyOf) return sampleOf(anyOf[0] ?? {});
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  if (format === 'uuid') return randomUUID();
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  if (type === 'array') return items ? [sampleOf(items)] : [];
  if (type === 'object') return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
  if (type === 'integer' || type === 'number') return schema['minimum'] ?? 1;
  if (type === 'boolean') return true;
  return textLike(typeof schema['pattern'] === 'string' ? schema['pattern'] : '');
}

function textLike(pattern: string): string {
  if (pattern.includes('/d\\/')) return 'https://docs.example.org/d/none';
  return pattern.includes('[0-9a-f]{64}') ? '0a'.repeat(32) : 'wip/text';
}

/** A valid input of an operation that names `id` by the field. */
function inputNaming(operation: Operation, field: string, id: string): Record<string, unknown> {
  const schema = z.toJSONSchema(operation.input, { io: 'input' }) as JsonSchema;
  const asked = schema.properties?.[field];
  const named = asked?.items?.type === 'object' ? { ...(sampleOf(asked.items) as object), node_id: id } : id;
  const input = { ...(sampleOf(schema) as object), [field]: asked?.type === 'array' ? [named] : named };
  expect([operation.name, operation.input.safeParse(input).error?.issues ?? []]).toEqual([operation.name, []]);
  return input;
}

async function outcomeOf(operation: Operation, input: unknown, caller: Caller): Promise<unknown> {
  const envelope = { callId: newId(), requestId: 'request', caller: { ...caller, scope: 'manage' as const } };
  const call = registry.dispatch(operation, input, { envelope, signal: new AbortController().signal });
  return call.catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === 'scope_expansion_required') return error.details;
    throw error;
  });
}

/** As `outcomeOf`, with what the person of the session sees: everybody's nodes alone. */
async function outcomeFor(operation: Operation, input: unknown, caller: Caller): Promise<unknown> {
  const admitting = new DatabaseScopes({
    row: (sql, values) =>
      harness.database.row(
        sql,
        (values ?? []).map((value, index) => (index === 2 ? false : value)),
      ),
  });
  const own = registry.scopes;
  registry.scopes = admitting;
  try {
    return await outcomeOf(operation, input, caller);
  } finally {
    registry.scopes = own;
  }
}

const offered = [...OPERATIONS.values()].filter(isOffered);
const reaching = offered.flatMap((operation) =>
  Object.entries(operation.reach).map(([field, access]) => [operation.name, field, access, operation] as const),
);
const kindOf = (field: string): ReachKind =>
  REACH_FIELDS[field] ?? ((field as 'actor').replace('_id', '') as ReachKind);

describe('an operation that a session calls', () => {
  it.each(reaching.filter(([, , access]) => access !== 'free'))(
    '%s asks for the node of its %s to be in the %s scope, names the one call, and then is carried out [sessions.scope.expansion-explicit] [sessions.scope.write-outside-refused]',
    async (_name, field, access, operation) => {
      const id = ofFar[kindOf(field)];
      const input = inputNaming(operation, field, id);
      const nothing = await harness.session(writer, {});
      const asked = { node_id: far, node_ids: expect.arrayContaining([far]), access };
      expect(await outcomeOf(operation, input, nothing)).toMatchObject(asked);
      expect(await outcomeOf(operation, input, nothing)).toMatchObject({
        hint: expect.stringContaining('svc_expand_scope'),
      });
      const others = (await allNodes()).filter((node) => node !== far);
      const reading = await harness.session(writer, { read: [far], write: others });
      expect(await outcomeOf(operation, input, reading)).toEqual(
        access === 'read' ? CARRIED_OUT : expect.objectContaining({ node_ids: [far], access: 'write' }),
      );
      const writing = await harness.session(writer, { write: [far, ...others] });
      expect(await outcomeOf(operation, input, writing)).toBe(CARRIED_OUT);
      expect(await outcomeOf(operation, input, writer)).toBe(CARRIED_OUT);
    },
  );

  it.each(reaching.filter(([, , access]) => access !== 'free'))(
    '%s is told nothing of a hidden node by its %s, in scope or out [access.hidden.nowhere]',
    async (_name, field, _access, operation) => {
      const nothing = await harness.session(writer, {});
      const holding = await harness.session(writer, { write: [hidden] });
      for (const id of [ofHidden[kindOf(field)], randomUUID()])
        for (const caller of [nothing, holding]) {
          const outcome = await outcomeFor(operation, inputNaming(operation, field, id), caller);
          expect(JSON.stringify(outcome)).not.toContain(hidden);
          if (kindOf(field) !== 'actor') expect(outcome).toBe(CARRIED_OUT);
        }
    },
  );

  it.each(reaching.filter(([, , access]) => access === 'free'))(
    '%s works by permission alone with its %s',
    async (_name, field, _access, operation) => {
      const input = inputNaming(operation, field, ofFar[kindOf(field)]);
      const others = (await allNodes()).filter((node) => node !== far);
      expect(await outcomeOf(operation, input, await harness.session(writer, { write: others }))).toBe(CARRIED_OUT);
    },
  );

  it('is not carried out where nobody knows the scopes of sessions', async () => {
    const lost = new OperationRegistry();
    lost.addHandler(logEvent.name, async () => CARRIED_OUT, false, { operation: logEvent, options: {} });
    const caller = await harness.session(writer, { write: [far] });
    const envelope = { callId: newId(), requestId: 'request', caller };
    const call = lost.dispatch(
      logEvent,
      { node_id: far, kind: 'note', content: 'x' },
      { envelope, signal: new AbortController().signal },
    );
    await expect(call).rejects.toThrow('scopes of sessions');
  });

  it('is refused with the session of somebody else, or one that is gone', async () => {
    const { session_id } = await harness.session(admin, { write: [far] });
    for (const caller of [
      { ...writer, session_id: session_id ?? null },
      { ...writer, session_id: randomUUID() },
    ]) {
      const error = await harness.refusal(
        logEvent,
        { node_id: far, kind: 'note', content: 'x' },
        caller,
        'SESSION_NOT_FOUND',
      );
      expect(error.details).toEqual({ session_id: caller.session_id });
    }
  });
});

async function allNodes(): Promise<string[]> {
  const { rows } = await harness.database.pool.query<{ id: string }>('SELECT id FROM graph.node');
  return rows.map(({ id }) => id);
}

describe('what an agent changes', () => {
  const agentHolding = async (write: string[]): Promise<Caller> => {
    const agent = await harness.session(admin, { write });
    return { ...agent, scope: 'manage' };
  };
  const logOf = async ({ session_id }: Caller): Promise<{ seq: number; kind: string; payload: unknown }[]> =>
    (
      await harness.database.pool.query(
        'SELECT seq, kind, payload FROM session.event WHERE session_id = $1 ORDER BY seq',
        [session_id],
      )
    ).rows;

  it('is entered into its log, and the audit trail points there', async () => {
    const agent = await agentHolding([far]);
    await harness.call(archiveNode, { node_id: far }, agent);
    const log = await logOf(agent);
    expect(log).toEqual([
      {
        seq: 1,
        kind: 'tool_call',
        payload: { call_id: expect.any(String), phase: 'completed', title: 'Archive node', tool_kind: 'archive_node' },
      },
    ]);
    const { items } = await harness.call(listAudit, { target_id: far, action: 'archive_node' }, admin);
    expect(items[0]).toMatchObject({ session: { id: agent.session_id, seq: 1 }, user: { id: admin.user_id } });
    const own = (await harness.call(listAudit, { target_id: far, action: 'create_node' }, admin)).items[0];
    expect(own?.session).toBeNull();
    const told = await harness.database.pool.query(
      `SELECT payload FROM outbox.event WHERE type = 'session.appended' AND payload ->> 'session_id' = $1`,
      [agent.session_id],
    );
    expect(told.rows).toEqual([{ payload: { session_id: agent.session_id, last_seq: 1 } }]);
  });

  it('leaves nothing when it is refused', async () => {
    const agent = await agentHolding([far]);
    await harness.refusal(archiveNode, { node_id: far, expected_version: 1 }, agent, 'CONFLICT');
    await harness.call(purgeNode, { node_id: far }, agent);
    expect(await logOf(agent)).toEqual([]);
  });

  it('is rolled back when it began beside the look at the scope, which refuses it, also where it was carried out before', async () => {
    const node = await makeNode('Watched');
    const event = await harness.call(logEvent, { node_id: node, kind: 'note', content: 'first' }, admin);
    const count = async (): Promise<unknown> =>
      (
        await harness.database.pool.query(
          `SELECT (SELECT row(n.*)::text FROM graph.node n WHERE n.id = $1) AS node,
             (SELECT string_agg(e::text, ' ' ORDER BY e.id) FROM graph.event e WHERE e.node_id = $1) AS events,
             (SELECT count(*) FROM audit.entry) AS audited, (SELECT count(*) FROM outbox.applied_call) AS applied`,
          [node],
        )
      ).rows;
    const changes = [
      [updateNode, { node_id: node, name: 'Renamed' }],
      [logEvent, { node_id: node, kind: 'note', content: 'second' }],
      [editEvent, { event_id: event.id, content: 'edited' }],
      [resolveEvent, { event_id: event.id }],
      [supersedeEvent, { event_id: event.id, content: 'third' }],
      [archiveEvent, { event_id: event.id }],
    ] as const satisfies readonly (readonly [Operation, object])[];
    const [outside, inside] = [await agentHolding([far]), await agentHolding([node])];
    const before = await count();
    for (const [operation, input] of changes)
      await harness.refusal(operation, input, outside, 'scope_expansion_required');
    expect(await count()).toEqual(before);
    const callId = newId();
    const log = { node_id: node, kind: 'note', content: 'once' } as const;
    await harness.call(logEvent, log, inside, callId);
    await harness.call(logEvent, log, inside, callId);
    await harness.database.pool.query('DELETE FROM session.scope WHERE session_id = $1', [inside.session_id]);
    await expect(harness.call(logEvent, log, inside, callId)).rejects.toMatchObject({
      code: 'scope_expansion_required',
    });
  });

  it('never waits for connections that all wait for the look at a scope', async () => {
    const agent = await agentHolding([far]);
    const writes = Array.from({ length: 60 }, (_none, place) =>
      harness.call(logEvent, { node_id: far, kind: 'note', content: `${place}` }, agent),
    );
    expect(await Promise.all(writes)).toHaveLength(60);
    expect(await logOf(agent)).toHaveLength(60);
  });

  it('puts a node that it makes into its write scope, with the change', async () => {
    const agent = await agentHolding([organization]);
    const made = await harness.call(createNode, { type: 'area', name: 'Made', organization_id: organization }, agent);
    expect(await logOf(agent)).toMatchObject([
      { seq: 1, payload: { tool_kind: 'create_node' } },
      { seq: 2, kind: 'scope_changed', payload: { node_ids: [made.id], access: 'write', added_via: 'write' } },
    ]);
    await harness.call(logEvent, { node_id: made.id, kind: 'note', content: 'mine' }, agent);
    const { items } = await harness.call(listNodes, { scope: 'session' }, agent);
    expect(items.map(({ name }) => name).sort()).toEqual(['Acme', 'Made']);
  });

  it('is kept when it removes the home node of its own session, which goes with it', async () => {
    const home = await makeNode('Short-lived');
    const agent: Caller = { ...(await harness.session(admin, { home })), scope: 'manage' };
    await harness.call(purgeNode, { node_id: home, confirmed: true }, agent);
    const { items } = await harness.call(listAudit, { target_id: home, action: 'purge_node' }, admin);
    expect(items[0]?.session).toEqual({ id: agent.session_id, seq: null });
    await harness.refusal(listNodes, {}, agent, 'SESSION_NOT_FOUND');
  });
});
