import { Id, Timestamp } from '@workspace-graph/contracts';
import { cursorOf, pageJson, type Statement, statement } from '@workspace-graph/database';
import { z } from 'zod';

/** Sort key of the audit trail: when, and the entry's id. */
export const AUDIT_CURSOR = cursorOf<[string, string]>('list_audit', z.tuple([Timestamp, Id]));

/** What each filter asks; each but `about` has an index that also gives the order. `session` says of which nodes. */
const FILTERS = {
  session: '',
  node: 'a.node_id = $?::uuid',
  about: 'a.about = $?::text',
  target: 'a.target_id = $?::uuid',
  user: 'a.user_id = $?::uuid',
  action: 'a.action = $?::text',
} as const;
export type AuditFilter = keyof typeof FILTERS;
const FIRST_FILTER = 6;
/** Of a longer text its beginning. */
const NAME_CHARACTERS = 200;

/** What the target is called: as the entry says it, as it is now, or as its last entry says it. An event is called by its text. */
const TARGET_NAME = `left(CASE a.target_kind
      WHEN 'responsibility' THEN ${said('title', '(SELECT r.title FROM graph.responsibility r WHERE r.id = a.target_id)')}
      WHEN 'event' THEN ${said('content', '(SELECT e.content FROM graph.event e WHERE e.id = a.target_id)')}
      WHEN 'file' THEN ${said('path', '(SELECT f.path FROM file.named_file() f WHERE f.id = a.target_id)')}
      WHEN 'node' THEN ${said('name', '(SELECT n.name FROM graph.node n WHERE n.id = a.target_id)')}
      WHEN 'session' THEN ${said('name', '(SELECT s.name FROM session.named_session s WHERE s.id = a.target_id)')}
      WHEN 'actor' THEN ${said('name', '(SELECT c.name FROM graph.actor c WHERE c.id = a.target_id)')}
      WHEN 'user' THEN ${said('name', '(SELECT u.name FROM identity.known_user u WHERE u.id = a.target_id)')}
      WHEN 'group' THEN ${said('name', '(SELECT g.name FROM identity.known_group g WHERE g.id = a.target_id)')}
      WHEN 'data_source' THEN ${said('name')} WHEN 'tool' THEN ${said('name')} WHEN 'device' THEN ${said('name')}
      WHEN 'token' THEN ${said('label')} END, ${NAME_CHARACTERS})`;

function said(field: string, otherwise = 'NULL'): string {
  // What removed it has kept it.
  const last = `(SELECT coalesce(x.after ->> '${field}', x.before ->> '${field}') FROM audit.trail x
        WHERE x.target_id = a.target_id ORDER BY x.at DESC, x.id DESC LIMIT 1)`;
  return `coalesce(a.after ->> '${field}', a.before ->> '${field}', ${otherwise}, ${last})`;
}

const NEWEST_FIRST = 'ORDER BY a.at DESC, a.id DESC';

/** The lines of a page and one more. */
function pageOf(filters: readonly AuditFilter[]): string {
  const parameterOf = (index: number): string => `$${FIRST_FILTER + index}`;
  const conditions = filters.map((filter, index) => FILTERS[filter].replace('$?', parameterOf(index)));
  const wanted = ['(a.at, a.id) < ($2::timestamptz, $3::uuid)', 'a.at >= $4::timestamptz', 'a.at < $5::timestamptz']
    .concat(conditions)
    .filter((condition) => condition !== '')
    .join(' AND ');
  const lines = (trail: string, more: string): string =>
    `SELECT a.* FROM ${trail} a WHERE ${wanted} ${more} ${NEWEST_FIRST} LIMIT $1::int + 1`;
  if (!filters.includes('session')) return lines(filters.includes('node') ? 'audit.node_trail' : 'audit.trail', '');
  // Of each node its newest lines; what concerns two of them is one line.
  return `SELECT DISTINCT ON (a.at, a.id) a.*
    FROM session.scope_nodes(${parameterOf(filters.indexOf('session'))}::uuid) held(id)
    CROSS JOIN LATERAL (${lines('audit.node_trail', 'AND a.node_id = held.id')}) a ${NEWEST_FIRST} LIMIT $1::int + 1`;
}

/** $1 page size, $2 and $3 sort key, $4 from, $5 to, $6… the filters. */
const auditText = (filters: readonly AuditFilter[]): string =>
  pageJson(
    '$1::int',
    `
  SELECT json_build_object('id', a.id, 'at', graph.iso(a.at),
      'user', (SELECT json_build_object('id', u.id, 'name', u.name) FROM identity.known_user u WHERE u.id = a.user_id),
      'via', a.via, 'action', a.action, 'target_kind', a.target_kind, 'target_id', a.target_id, 'target_name', ${TARGET_NAME},
      'before', a.before, 'after', a.after, 'request_id', a.request_id,
      'session', CASE WHEN a.session_id IS NOT NULL THEN json_build_object('id', a.session_id, 'seq', a.session_seq) END) AS item,
    ${AUDIT_CURSOR.sql('graph.iso(a.at)', 'a.id')} AS cursor, row_number() OVER (ORDER BY a.at DESC, a.id DESC) AS place
  FROM (${pageOf(filters)}) a`,
  );

/** Every choice of filters, each in their order; `about` is a question to the history of a node, which the session holds. */
const combinations = choicesOf(Object.keys(FILTERS) as AuditFilter[]).filter((filters) =>
  filters.includes('node') ? !filters.includes('session') : !filters.includes('about'),
);

function choicesOf([first, ...others]: readonly AuditFilter[]): AuditFilter[][] {
  if (first === undefined) return [[]];
  const choices = choicesOf(others);
  return [...choices, ...choices.map((choice) => [first, ...choice])];
}

/** One statement for each combination of filters, by their names, so that each is planned for its index. */
export const AUDIT: ReadonlyMap<string, Statement> = new Map(
  combinations.map((filters) => [filters.join(), statement(`audit.list:${filters.join('.')}`, auditText(filters))]),
);
