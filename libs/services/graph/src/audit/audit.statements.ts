import { Id, Timestamp } from '@workspace-graph/contracts';
import { cursorOf, pageJson, type Statement, statement } from '@workspace-graph/database';
import { z } from 'zod';

/** Sort key of the audit trail: when, and the entry's id. */
export const AUDIT_CURSOR = cursorOf<[string, string]>('list_audit', z.tuple([Timestamp, Id]));

/** What each filter asks; each has an index that also gives the order. */
const FILTERS = {
  target: 'a.target_id = $?::uuid',
  user: 'a.user_id = $?::uuid',
  action: 'a.action = $?::text',
} as const;
export type AuditFilter = keyof typeof FILTERS;
const FIRST_FILTER = 6;

/** $1 page size, $2 and $3 sort key, $4 from, $5 to, $6… the filters. */
const auditText = (filters: readonly AuditFilter[]): string =>
  pageJson(
    '$1::int',
    `
  SELECT json_build_object('id', a.id, 'at', graph.iso(a.at),
      'user', (SELECT json_build_object('id', u.id, 'name', u.name) FROM identity.known_user u WHERE u.id = a.user_id),
      'via', a.via, 'action', a.action, 'target_kind', a.target_kind, 'target_id', a.target_id, 'before', a.before, 'after', a.after,
      'request_id', a.request_id,
      'session', CASE WHEN a.session_id IS NOT NULL THEN json_build_object('id', a.session_id, 'seq', a.session_seq) END) AS item,
    ${AUDIT_CURSOR.sql('graph.iso(a.at)', 'a.id')} AS cursor, row_number() OVER (ORDER BY a.at DESC, a.id DESC) AS place
  FROM (
    SELECT a.* FROM audit.trail a
    WHERE (a.at, a.id) < ($2::timestamptz, $3::uuid) AND a.at >= $4::timestamptz AND a.at < $5::timestamptz
      ${filters.map((filter, index) => `AND ${FILTERS[filter].replace('?', String(FIRST_FILTER + index))}`).join(' ')}
    ORDER BY a.at DESC, a.id DESC LIMIT $1::int + 1
  ) a`,
  );

const combinations: readonly (readonly AuditFilter[])[] = [
  [],
  ['target'],
  ['user'],
  ['action'],
  ['target', 'user'],
  ['target', 'action'],
  ['user', 'action'],
  ['target', 'user', 'action'],
];

/** One statement for each combination of filters, by their names, so that each is planned for its index. */
export const AUDIT: ReadonlyMap<string, Statement> = new Map(
  combinations.map((filters) => [filters.join(), statement(`audit.list:${filters.join('.')}`, auditText(filters))]),
);
