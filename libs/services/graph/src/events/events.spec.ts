import { setTimeout as sleep } from 'node:timers/promises';
import {
  archiveEvent,
  type Caller,
  EventKind,
  editEvent,
  type GraphEvent,
  getEvent,
  type InputOf,
  LIMITS,
  listEvents,
  logEvent,
  resolveEvent,
  supersedeEvent,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
let project: NodeAnswer;
/** Hidden from everybody but `manage`. */
let hidden: NodeAnswer;

const absent = '0190a5f0-0000-7000-8000-00000000dead';
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const WIRE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

beforeAll(async () => {
  graph = await startGraph();
  project = await graph.node('project', 'Přestavba skladu');
  hidden = await graph.node('project', 'Tajný projekt', { visibility: 'private' });
});
afterAll(() => graph.close());

const log = (extra: Partial<InputOf<typeof logEvent>> = {}, caller: Caller = graph.writer): Promise<GraphEvent> =>
  graph.call(logEvent, { node_id: project.id, kind: 'note', content: 'Smlouva čeká na podpis', ...extra }, caller);
const audits = (targetId: string): Promise<Record<string, unknown>[]> =>
  graph.sql(
    'SELECT action, target_kind, user_id::text, via, before, after FROM audit.entry WHERE target_id = $1 ORDER BY id',
    [targetId],
  );

/** A node that the reader and the writer may read, and only the administrator may change. */
async function readableNode(name: string): Promise<NodeAnswer> {
  const node = await graph.node('project', name, { visibility: 'group' });
  await graph.sql(`INSERT INTO graph.share (node_id, user_id, access) VALUES ($1, $2, 'read'), ($1, $3, 'read')`, [
    node.id,
    graph.writer.user_id,
    graph.reader.user_id,
  ]);
  await graph.sql('SELECT graph.refresh_access(ARRAY[$1::uuid])', [node.id]);
  return node;
}

describe('logging an event', () => {
  it('puts it on the timeline of the node with its author, active, at this moment [events.log] [events.status-values] [graph.time.utc-milliseconds]', async () => {
    const before = Date.now();
    const event = await log();
    expect(event).toEqual({
      id: expect.stringMatching(UUID_V7),
      node_id: project.id,
      kind: 'note',
      status: 'active',
      content: 'Smlouva čeká na podpis',
      occurred_at: expect.stringMatching(WIRE_TIME),
      logged_at: event.occurred_at,
      logged_by: 'Will Writer',
      resolution: null,
      resolved_at: null,
      resolved_by: null,
      supersedes_id: null,
      superseded_by_id: null,
      version: 1,
    });
    expect(Math.abs(Date.parse(event.logged_at) - before)).toBeLessThan(60_000);
    expect(await graph.call(getEvent, { event_id: event.id }, graph.reader)).toMatchObject(event);
    expect((await graph.call(listEvents, { node_id: project.id }, graph.reader)).items).toContainEqual({
      ...event,
      node_name: project.name,
      node_path: `acme/projects/${project.sync_key}`,
    });
  });

  it('takes each of the seven kinds and no other [events.kinds]', async () => {
    expect(EventKind.options).toEqual(['decision', 'discovery', 'blocker', 'reference', 'milestone', 'note', 'change']);
    for (const kind of EventKind.options) expect((await log({ kind })).kind).toBe(kind);
    await graph.refusal(
      logEvent,
      { node_id: project.id, kind: 'rumour', content: 'x' },
      graph.writer,
      'VALIDATION_FAILED',
    );
  });

  it('says once what is wrong with a text that is too long', async () => {
    const content = 'x'.repeat(LIMITS.textLength + 1);
    const long = { node_id: project.id, kind: 'note', content };
    const { message } = await graph.refusal(logEvent, long, graph.writer, 'VALIDATION_FAILED');
    expect(message).toBe('content: must have at most 20000 characters');
  });

  it('takes the time at which it happened, and sets the time of logging itself [events.occurred-at-editable] [events.logged-at-fixed]', async () => {
    const event = await log({ occurred_at: '2024-03-01T12:00:00.5+02:00' });
    expect(event.occurred_at).toBe('2024-03-01T10:00:00.500Z');
    expect(event.logged_at).not.toBe(event.occurred_at);
    await graph.refusal(
      logEvent,
      { node_id: project.id, kind: 'note', content: 'x', logged_at: event.occurred_at },
      graph.writer,
      'VALIDATION_FAILED',
    );
  });

  it.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:00-10:00'])(
    'refuses %s, a year without four digits, as a validation failure',
    async (time) => {
      const error = await graph.refusal(
        logEvent,
        { node_id: project.id, kind: 'note', content: 'x', occurred_at: time },
        graph.writer,
        'VALIDATION_FAILED',
      );
      expect(error.details).toEqual({ issues: [{ path: 'occurred_at', message: expect.any(String) }] });
    },
  );

  it('refuses blank content', async () => {
    await graph.refusal(
      logEvent,
      { node_id: project.id, kind: 'note', content: ' \n ' },
      graph.writer,
      'VALIDATION_FAILED',
    );
  });

  it('leaves one audit line, one message and the applied call in the same transaction [graph.audit.same-transaction]', async () => {
    const callId = newId();
    const event = await graph.call(
      logEvent,
      { node_id: project.id, kind: 'decision', content: 'Ano' },
      graph.writer,
      callId,
    );
    expect(await audits(event.id)).toEqual([
      {
        action: 'log',
        target_kind: 'event',
        user_id: graph.writer.user_id,
        via: 'rest',
        before: null,
        after: { node_id: project.id, kind: 'decision', content: 'Ano', occurred_at: event.occurred_at },
      },
    ]);
    const rows = await graph.sql(
      `SELECT
      (SELECT count(*)::int FROM outbox.event WHERE type = 'graph.changed' AND payload = jsonb_build_object('node_ids', jsonb_build_array($2::text), 'action', 'log')
        AND xmin = (SELECT xmin FROM graph.event WHERE id = $1)) AS told,
      (SELECT count(*)::int FROM audit.entry WHERE target_id = $1 AND xmin = (SELECT xmin FROM graph.event WHERE id = $1)) AS audited,
      (SELECT count(*)::int FROM outbox.applied_call WHERE call_id = $3 AND xmin = (SELECT xmin FROM graph.event WHERE id = $1)) AS applied`,
      [event.id, project.id, callId],
    );
    expect(rows).toEqual([{ told: 1, audited: 1, applied: 1 }]);
  });

  it('is applied once however often the call is sent, also at the same time', async () => {
    const callId = newId();
    const input = { node_id: project.id, kind: 'note', content: 'Jednou' } as const;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => graph.call(logEvent, input, graph.writer, callId)),
    );
    answers.push(await graph.call(logEvent, input, graph.writer, callId));
    expect(new Set(answers.map((answer) => answer.id)).size).toBe(1);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await graph.sql(`SELECT count(*)::int AS events FROM graph.event WHERE content = 'Jednou'`)).toEqual([
      { events: 1 },
    ]);
  });

  it('does not repeat its answer to somebody else who sends the same call id', async () => {
    const callId = newId();
    await graph.call(logEvent, { node_id: project.id, kind: 'note', content: 'Mé' }, graph.writer, callId);
    await expect(
      graph.call(logEvent, { node_id: project.id, kind: 'note', content: 'Mé' }, graph.admin, callId),
    ).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('answers a repeated call as the first time, and as a new one when the node has gone since', async () => {
    const node = await graph.node('project', 'Krátký život');
    const [callId, note] = [newId(), { node_id: node.id, kind: 'note' as const, content: 'x' }];
    const first = await graph.call(logEvent, note, graph.writer, callId);
    expect(await graph.call(logEvent, note, graph.writer, callId)).toEqual(first);
    await graph.sql('DELETE FROM graph.node WHERE id = $1', [node.id]);
    await expect(graph.call(logEvent, note, graph.writer, callId)).rejects.toMatchObject({ code: 'NODE_NOT_FOUND' });
  });

  it('refuses a hidden node exactly as an absent one and stores nothing [access.hidden.indistinguishable-from-absent]', async () => {
    const refusals = [];
    for (const nodeId of [hidden.id, absent]) {
      const error = await graph.refusal(
        logEvent,
        { node_id: nodeId, kind: 'note', content: 'x' },
        graph.writer,
        'NODE_NOT_FOUND',
      );
      refusals.push(JSON.stringify(error.toBody('r')).replaceAll(nodeId, 'ID'));
    }
    expect(refusals[0]).toBe(refusals[1]);
    expect(await graph.sql('SELECT id FROM graph.event WHERE node_id = $1', [hidden.id])).toEqual([]);
  });

  it('needs the scope write and write access to the node [access.tier.events-need-write] [access.group.read-recipient-cannot-write]', async () => {
    const node = await readableNode('Jen ke čtení');
    await graph.refusal(logEvent, { node_id: project.id, kind: 'note', content: 'x' }, graph.reader, 'FORBIDDEN');
    const error = await graph.refusal(
      logEvent,
      { node_id: node.id, kind: 'note', content: 'x' },
      graph.writer,
      'FORBIDDEN',
    );
    expect(error.details).toEqual({ node_id: node.id });
    expect(await graph.sql('SELECT id FROM graph.event WHERE node_id = $1', [node.id])).toEqual([]);
    expect((await graph.call(logEvent, { node_id: node.id, kind: 'note', content: 'x' }, graph.admin)).logged_by).toBe(
      'Ada Admin',
    );
  });

  it('loses against a purge of the node that commits first', async () => {
    const node = await graph.node('project', 'Mizející');
    const client = await graph.database.pool.connect();
    await client.query('BEGIN');
    await client.query('DELETE FROM graph.node WHERE id = $1', [node.id]);
    const logging = graph.refusal(
      logEvent,
      { node_id: node.id, kind: 'note', content: 'x' },
      graph.writer,
      'NODE_NOT_FOUND',
    );
    const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    while ((await graph.database.pool.query(waits)).rowCount === 0) await sleep(5);
    await client.query('COMMIT');
    client.release();
    await logging;
  });
});

describe('editing an event', () => {
  it('changes text, kind and time of happening, counts the version up and audits what changed [events.edit] [events.occurred-at-editable]', async () => {
    const event = await log();
    const edited = await graph.call(
      editEvent,
      { event_id: event.id, kind: 'decision', content: 'Podepsáno', occurred_at: '2025-01-01T00:00:00Z' },
      graph.writer,
    );
    expect(edited).toEqual({
      ...event,
      kind: 'decision',
      content: 'Podepsáno',
      occurred_at: '2025-01-01T00:00:00.000Z',
      version: 2,
    });
    expect((await audits(event.id))[1]).toMatchObject({
      action: 'edit_event',
      before: { kind: 'note', content: event.content, occurred_at: event.occurred_at },
      after: { kind: 'decision', content: 'Podepsáno', occurred_at: '2025-01-01T00:00:00.000Z' },
    });
  });

  it('writes nothing when nothing differs', async () => {
    const event = await log();
    expect(
      await graph.call(
        editEvent,
        { event_id: event.id, content: event.content, occurred_at: event.occurred_at },
        graph.writer,
      ),
    ).toEqual(event);
    expect(await audits(event.id)).toHaveLength(1);
  });

  it('is refused with the current record when it is based on an older version', async () => {
    const event = await log();
    const edited = await graph.call(
      editEvent,
      { event_id: event.id, content: 'Novější', expected_version: 1 },
      graph.writer,
    );
    const error = await graph.refusal(
      editEvent,
      { event_id: event.id, content: 'Starší', expected_version: 1 },
      graph.writer,
      'CONFLICT',
    );
    expect(error.details).toEqual({ current: edited });
  });

  it('has one winner of two writers that start from the same version', async () => {
    const event = await log();
    const outcomes = await Promise.allSettled(
      ['A', 'B', 'C', 'D'].map((content) =>
        graph.call(editEvent, { event_id: event.id, content, expected_version: 1 }, graph.writer),
      ),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'CONFLICT' });
    expect((await graph.call(getEvent, { event_id: event.id }, graph.writer)).version).toBe(2);
  });
});

describe('resolving an event', () => {
  it('records how, who and when [events.resolve]', async () => {
    const event = await log({ kind: 'blocker' });
    const resolved = await graph.call(resolveEvent, { event_id: event.id, resolution: 'Podpis máme' }, graph.admin);
    expect(resolved).toEqual({
      ...event,
      status: 'resolved',
      resolution: 'Podpis máme',
      resolved_by: 'Ada Admin',
      resolved_at: expect.stringMatching(WIRE_TIME),
      version: 2,
    });
    expect((await audits(event.id))[1]).toMatchObject({
      action: 'resolve_event',
      user_id: graph.admin.user_id,
      before: { status: 'active', resolution: null },
      after: { status: 'resolved', resolution: 'Podpis máme' },
    });
  });
});

describe('superseding an event', () => {
  it('stores the new one and marks the old one, each pointing to the other [events.supersede-links-both-ways]', async () => {
    const old = await log({ kind: 'decision', content: 'Koupíme dva vozy' });
    const successor = await graph.call(supersedeEvent, { event_id: old.id, content: 'Koupíme tři vozy' }, graph.writer);
    expect(successor).toMatchObject({
      kind: 'decision',
      status: 'active',
      content: 'Koupíme tři vozy',
      supersedes_id: old.id,
      superseded_by_id: null,
      version: 1,
    });
    expect(await graph.call(getEvent, { event_id: old.id }, graph.writer)).toMatchObject({
      ...old,
      status: 'superseded',
      superseded_by_id: successor.id,
      version: 2,
    });
    const rows = await graph.sql(
      'SELECT count(DISTINCT xmin::text)::int AS transactions FROM graph.event WHERE id = ANY ($1::uuid[])',
      [[old.id, successor.id]],
    );
    expect(rows).toEqual([{ transactions: 1 }]);
    const timeline = await graph.call(listEvents, { node_id: project.id }, graph.reader);
    expect(timeline.items.map((event) => event.id)).not.toContain(old.id);
  });

  it('takes a resolved one too, and a successor may be superseded in turn', async () => {
    const first = await log();
    await graph.call(resolveEvent, { event_id: first.id }, graph.writer);
    const second = await graph.call(supersedeEvent, { event_id: first.id, content: 'Druhá' }, graph.writer);
    const third = await graph.call(
      supersedeEvent,
      { event_id: second.id, content: 'Třetí', kind: 'change' },
      graph.writer,
    );
    expect(await graph.call(getEvent, { event_id: second.id }, graph.writer)).toMatchObject({
      supersedes_id: first.id,
      superseded_by_id: third.id,
    });
  });

  it('of the same event twice at once has one winner and stores one successor [events.supersede-twice-refused]', async () => {
    const old = await log();
    const outcomes = await Promise.allSettled(
      ['A', 'B', 'C'].map((content) => graph.call(supersedeEvent, { event_id: old.id, content }, graph.writer)),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ code: 'CONFLICT', details: { current: { status: 'superseded' } } });
    expect(await graph.sql('SELECT count(*)::int AS n FROM graph.event WHERE supersedes_id = $1', [old.id])).toEqual([
      { n: 1 },
    ]);
  });

  it('is applied once when the call is repeated', async () => {
    const old = await log();
    const callId = newId();
    const first = await graph.call(supersedeEvent, { event_id: old.id, content: 'Nová' }, graph.writer, callId);
    expect(await graph.call(supersedeEvent, { event_id: old.id, content: 'Nová' }, graph.writer, callId)).toEqual(
      first,
    );
  });
});

describe('archiving an event', () => {
  it('takes it out of the default timeline and leaves it to be found by status [events.archive]', async () => {
    const event = await log();
    const archived = await graph.call(archiveEvent, { event_id: event.id }, graph.writer);
    expect(archived).toEqual({ ...event, status: 'archived', version: 2 });
    expect(
      (await graph.call(listEvents, { node_id: project.id }, graph.reader)).items.map(({ id }) => id),
    ).not.toContain(event.id);
    expect(
      (await graph.call(listEvents, { node_id: project.id, status: ['archived'] }, graph.reader)).items.map(
        ({ id }) => id,
      ),
    ).toContain(event.id);
  });
});

describe('an event that is superseded or archived', () => {
  const changes = (eventId: string): (readonly [Parameters<typeof graph.refusal>[0], Record<string, unknown>])[] => [
    [editEvent, { event_id: eventId, content: 'y' }],
    [resolveEvent, { event_id: eventId }],
    [supersedeEvent, { event_id: eventId, content: 'y' }],
    [archiveEvent, { event_id: eventId }],
  ];

  it.each(['superseded', 'archived'] as const)(
    'is final: %s refuses every change with the current record',
    async (status) => {
      const event = await log();
      if (status === 'archived') await graph.call(archiveEvent, { event_id: event.id }, graph.writer);
      else await graph.call(supersedeEvent, { event_id: event.id, content: 'z' }, graph.writer);
      const current = await graph.call(getEvent, { event_id: event.id }, graph.writer);
      for (const [operation, input] of changes(event.id)) {
        const { details } = await graph.refusal(operation, input, graph.writer, 'CONFLICT');
        expect(current).toMatchObject(details?.['current'] as object);
      }
      expect(await graph.call(getEvent, { event_id: event.id }, graph.writer)).toEqual(current);
    },
  );

  it('of a hidden node is refused exactly as an absent one, for reading and for every change [errors.event-not-found] [events.hidden-with-node]', async () => {
    const event = await log({ node_id: hidden.id }, graph.admin);
    const answers = [];
    for (const eventId of [event.id, absent]) {
      const bodies = [];
      for (const [operation, input] of [[getEvent, { event_id: eventId }] as const, ...changes(eventId)]) {
        bodies.push((await graph.refusal(operation, input, graph.writer, 'EVENT_NOT_FOUND')).toBody('r'));
      }
      answers.push(JSON.stringify(bodies).replaceAll(eventId, 'ID'));
    }
    expect(answers[0]).toBe(answers[1]);
  });

  it('of a node that the caller may only read cannot be changed [access.tier.events-need-write]', async () => {
    const node = await readableNode('Čtený');
    const event = await log({ node_id: node.id }, graph.admin);
    for (const [operation, input] of changes(event.id))
      await graph.refusal(operation, input, graph.writer, 'FORBIDDEN');
    for (const [operation, input] of changes(event.id))
      await graph.refusal(operation, input, graph.reader, 'FORBIDDEN');
    expect(await graph.call(getEvent, { event_id: event.id }, graph.reader)).toMatchObject(event);
  });
});
