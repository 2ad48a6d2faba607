import { newId } from '@workspace-graph/platform';
import { NODES, USERS } from './baseline.js';
import type { Secrets } from './secrets.js';

/** Sessions as the service records them, with fixed ids and times where both worlds have them. */

const id = (number: number): string => `018f0000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const day = (number: number): string => `'2024-05-${String(number).padStart(2, '0')}T10:00:00Z'`;

/** Of both worlds: on nodes that are seen, on one that is private to Wil, and without a node. */
export const SESSIONS = {
  waiting: id(901),
  suspended: id(902),
  closed: id(903),
  archived: id(904),
  gamma: id(905),
  alone: id(906),
  /** Without a node, of somebody else. */
  theirs: id(907),
} as const;
/** An event with its whole output. */
export const OUTPUT = id(950);

/** Sessions that one world alone has, by names that both share. */
export type HiddenSessions = Readonly<Record<'ofArea' | 'ofBelow' | 'own' | 'output', string>>;
export const neverWere = (): HiddenSessions => ({ ofArea: newId(), ofBelow: newId(), own: newId(), output: newId() });

interface Row {
  readonly id: string;
  readonly node: string | null;
  readonly owner: string;
  readonly state: string;
  readonly name: string;
  readonly day: number;
  readonly waits?: boolean;
}

const GROUND: readonly Row[] = [
  {
    id: SESSIONS.waiting,
    node: NODES.beta,
    owner: USERS.wil,
    state: 'running',
    name: 'Zebra count',
    day: 11,
    waits: true,
  },
  { id: SESSIONS.suspended, node: NODES.beta, owner: USERS.ada, state: 'suspended', name: 'Zebra draft', day: 9 },
  { id: SESSIONS.closed, node: NODES.alpha, owner: USERS.ada, state: 'closed', name: 'Zebra plan', day: 7 },
  { id: SESSIONS.archived, node: NODES.alpha, owner: USERS.wil, state: 'archived', name: 'Old zebra', day: 5 },
  { id: SESSIONS.gamma, node: NODES.gamma, owner: USERS.wil, state: 'suspended', name: 'Private zebra', day: 3 },
  { id: SESSIONS.alone, node: null, owner: USERS.wil, state: 'suspended', name: 'Zebra alone', day: 2 },
  { id: SESSIONS.theirs, node: null, owner: USERS.ada, state: 'suspended', name: 'Zebra of Ada', day: 1 },
];

const quoted = (value: string | null): string => (value === null ? 'NULL' : `'${value}'`);
/** A sweep would archive a closed session that has been quiet for long. */
const activity = ({ state, day: number }: Row): string => (state === 'closed' ? 'now()' : day(number));

function sessionRow(row: Row): string {
  const { state } = row;
  const at = day(row.day);
  const isOver = state === 'closed' || state === 'archived';
  return `('${row.id}', ${quoted(row.node)}, '${row.owner}', 'connection', '${row.name}', '${state}', ${row.waits ? at : 'NULL'},
    ${state === 'suspended' ? `${at}, 'idle', 'Zebra handed over', 'All of the zebra', 'server', ${at}` : 'NULL, NULL, NULL, NULL, NULL, NULL'},
    '{"name":"agent","title":null,"version":"1"}', ${state === 'running' ? `'${row.id}'` : 'NULL'}, 3, ${activity(row)}, ${at},
    ${isOver ? at : 'NULL'}, ${state === 'archived' ? at : 'NULL'})`;
}

function eventRows({ id: sessionId, day: number }: Row, output: string): string[] {
  const payloads = [
    ['run_started', `{"run_id":"${sessionId}","runner":"mcp","instance_id":null,"mode":"fresh"}`, newId()],
    ['assistant_message', '{"text":"About the zebra"}', newId()],
    ['tool_call', '{"call_id":"z","phase":"completed","title":"Zebra","output_bytes":5}', output],
  ];
  return payloads.map(
    ([kind, payload, eventId], index) =>
      `('${sessionId}', ${index + 1}, '${eventId}', '${sessionId}', ${day(number)}, '${kind}', '${payload}')`,
  );
}

function insert(rows: readonly Row[], outputs: ReadonlyMap<string, string>): string {
  const waiting = rows.filter(({ waits }) => waits);
  const running = rows.filter(({ state }) => state === 'running');
  const scoped = rows.filter(({ node }) => node !== null);
  return `
    INSERT INTO session.session (id, node_id, owner_id, origin, name, state, waiting_since, suspended_at, suspend_reason, handoff_title, handoff_text,
      handoff_by, handoff_at, client, live_run_id, last_seq, last_activity_at, created_at, closed_at, archived_at) VALUES ${rows.map(sessionRow).join(', ')};
    INSERT INTO session.run (id, session_id, holder, mode, runner, started_at, lease_until) VALUES
      ${running.map((row) => `('${row.id}', '${row.id}', 'story', 'fresh', 'mcp', ${day(row.day)}, '2999-01-01')`).join(', ')};
    INSERT INTO session.event (session_id, seq, id, run_id, at, kind, payload) VALUES ${rows.flatMap((row) => eventRows(row, outputs.get(row.id) ?? newId())).join(', ')};
    INSERT INTO session.output (session_id, event_id, text, is_complete) VALUES ${[...outputs].map(([sessionId, output]) => `('${sessionId}', '${output}', 'zebra', true)`).join(', ')};
    INSERT INTO session.question (session_id, request_id, question, asked_at) VALUES
      ${waiting.map((row) => `('${row.id}', 'which', '{"request_id":"which","type":"input","title":"Which zebra?"}', ${day(row.day)})`).join(', ')};
    INSERT INTO session.scope (session_id, node_id, access, added_via, added_at) VALUES
      ${scoped.map((row) => `('${row.id}', '${row.node}', 'write', 'seed', ${day(row.day)})`).join(', ')};`;
}

/** What both worlds have. */
export const sessionsSql = (): string => `
  ${insert(GROUND, new Map([[SESSIONS.waiting, OUTPUT]]))}
  INSERT INTO session.scope (session_id, node_id, access, added_via, added_at) VALUES
    ('${SESSIONS.waiting}', '${NODES.alpha}', 'read', 'seed', ${day(11)}), ('${SESSIONS.suspended}', '${NODES.kappa}', 'write', 'expand', ${day(9)});`;

/** What one world has as well: sessions on hidden nodes, and hidden nodes in the scope of sessions that are seen. */
export function hiddenSql(secrets: Secrets, hidden: HiddenSessions): string {
  const rows: readonly Row[] = [
    {
      id: hidden.ofArea,
      node: secrets.area,
      owner: USERS.ada,
      state: 'running',
      name: 'Secret zebra',
      day: 12,
      waits: true,
    },
    { id: hidden.ofBelow, node: secrets.below, owner: USERS.ada, state: 'archived', name: 'Secret zebra', day: 10 },
    // Begun while Wil still saw the node.
    {
      id: hidden.own,
      node: secrets.broken,
      owner: USERS.wil,
      state: 'running',
      name: 'Secret zebra',
      day: 8,
      waits: true,
    },
  ];
  const scopes = [SESSIONS.waiting, SESSIONS.suspended, SESSIONS.gamma, SESSIONS.alone].flatMap((sessionId) => [
    `('${sessionId}', '${secrets.area}', 'read', 'seed', now())`,
    `('${sessionId}', '${secrets.below}', 'write', 'expand', now())`,
  ]);
  return `${insert(rows, new Map([[hidden.ofArea, hidden.output]]))}
    INSERT INTO session.scope (session_id, node_id, access, added_via, added_at) VALUES ${scopes.join(', ')};`;
}

/** Hidden sessions at work. */
export const stirSql = (hidden: HiddenSessions): string => `
  UPDATE session.session SET last_activity_at = now(), last_seq = last_seq + 1, version = version + 1
    WHERE id IN ('${hidden.ofArea}', '${hidden.own}');
  INSERT INTO session.event (session_id, seq, id, kind, payload) SELECT s.id, s.last_seq, gen_random_uuid(), 'reasoning', '{"text":"Zebra"}'
    FROM session.session s WHERE s.id IN ('${hidden.ofArea}', '${hidden.own}');`;
