import { Id, LIMITS, Timestamp } from '@workspace-graph/contracts';
import { type Cursor, cursorOf, pageJson, type Statement, statement, VISIBLE } from '@workspace-graph/database';
import { z } from 'zod';
import { fileJson, placedJson, placeJson } from '../shared/projections.js';

/** Visible nodes as places, in the order asked for. $1 user, $2 sees all, $3 ids, $4 the session that must hold them, or null. */
export const FIND_PLACES = statement(
  'file.find_places',
  `
  SELECT json_build_object('places', coalesce(json_agg(${placeJson('n')} ORDER BY w.place), '[]'))::text AS json
  FROM unnest($3::uuid[]) WITH ORDINALITY AS w(id, place) JOIN ${VISIBLE} n ON n.id = w.id AND session.holds($4::uuid, n.id)`,
);

/** Files of visible nodes: those of the ids, then those of the paths, each in the order asked for. $3 ids, $4 nodes, $5 keys of paths. */
export const FIND_FILES = statement(
  'file.find_files',
  `
  SELECT json_build_object('files', coalesce(json_agg(${placedJson('r', 'n')} ORDER BY f.kind, f.place), '[]'))::text AS json
  FROM (
    SELECT 1 AS kind, w.place, w.id FROM unnest($3::uuid[]) WITH ORDINALITY AS w(id, place)
    UNION ALL
    SELECT 2, w.place, p.id FROM unnest($4::uuid[], $5::text[]) WITH ORDINALITY AS w(node_id, path_key, place)
      JOIN file.record p ON p.node_id = w.node_id AND p.path_digest = md5(w.path_key)::uuid AND p.path_key = w.path_key
  ) f JOIN file.record r ON r.id = f.id JOIN ${VISIBLE} n ON n.id = r.node_id`,
);

/** Records of one visible node by id; no row when it is absent or hidden. $3 node, $4 the id to go on after, $5 how many. */
export const NODE_RECORDS = statement(
  'file.node_records',
  `
  SELECT json_build_object('files', coalesce((
    SELECT json_agg(${fileJson('r')} ORDER BY r.id) FROM (
      SELECT * FROM file.record r WHERE r.node_id = n.id AND r.id > $4::uuid ORDER BY r.id LIMIT $5::int) r), '[]'))::text AS json
  FROM ${VISIBLE} n WHERE n.id = $3::uuid`,
);

/** Files that were deleted from one visible node or moved to another; no row when it is absent or hidden. $3 node, $4 ids. */
export const REMOVED_FILES = statement(
  'file.removed_files',
  `
  SELECT json_build_object('ids', coalesce((
    SELECT json_agg(DISTINCT t.file_id) FROM file.tombstone t
    WHERE t.node_id = n.id AND t.reason IN ('deleted', 'moved') AND t.file_id = ANY($4::uuid[])
      AND NOT EXISTS (SELECT FROM file.record r WHERE r.id = t.file_id AND r.node_id = n.id)), '[]'))::text AS json
  FROM ${VISIBLE} n WHERE n.id = $3::uuid`,
);

/** Newest first. */
export const FILE_CURSOR: Cursor<[string, string]> = cursorOf('query_files', z.tuple([Timestamp, Id]));

/** What each status asks; one text for each, so that each is planned along its index. */
const SECTIONS = { any: '', wip: `AND r.section = 'wip'`, output: `AND r.section = 'outputs'` } as const;
type SectionFilter = keyof typeof SECTIONS;

/** Nodes up to which their lists are merged; beyond, the list of everything is looked through. */
const FEW_NODES = 200;

const after = (filter: SectionFilter): string =>
  `(r.updated_at, r.id) < ($4::timestamptz, $5::uuid) ${SECTIONS[filter]}`;
/** The inner limit is a constant, as a plan for any page size expects a tenth of all files on a page. */
const newestFirst = (rows: string): string => `
  SELECT r.* FROM ${rows} ORDER BY r.updated_at DESC, r.id DESC LIMIT ${LIMITS.filesMax + 1}`;

const pageOf = (rows: string): string =>
  pageJson(
    '$3::int',
    `
    SELECT ${placedJson('r', 'n')} AS item, ${FILE_CURSOR.sql('graph.iso(r.updated_at)', 'r.id')} AS cursor, r.place
    FROM (
      SELECT r.*, row_number() OVER (ORDER BY r.updated_at DESC, r.id DESC) AS place FROM (${rows}) r
      ORDER BY r.updated_at DESC, r.id DESC LIMIT $3::int + 1
    ) r JOIN graph.node_place n ON n.id = r.node_id`,
  );

/** Names of the places that a list can be of. */
export type FileList = 'all' | 'node' | 'session';

const LISTS: Readonly<Record<FileList, (filter: SectionFilter) => string>> = {
  all: (filter) =>
    `SELECT (${pageOf(newestFirst(`file.record r JOIN ${VISIBLE} v ON v.id = r.node_id WHERE ${after(filter)}`))}) AS json`,
  node: (filter) => `
    SELECT (${pageOf(newestFirst(`file.record r WHERE r.node_id = $6::uuid AND ${after(filter)}`))}) AS json
    FROM ${VISIBLE} asked WHERE asked.id = $6::uuid`,
  session: (filter) => `
    WITH held AS MATERIALIZED (SELECT c.id FROM session.scope_nodes($6::uuid) AS c(id)),
    size AS MATERIALIZED (SELECT count(*) <= ${FEW_NODES} AS few FROM held)
    SELECT (${pageOf(`
      (${newestFirst(`held a JOIN ${VISIBLE} v ON v.id = a.id CROSS JOIN LATERAL (
        ${newestFirst(`file.record r WHERE r.node_id = v.id AND ${after(filter)}`)}) r WHERE (SELECT few FROM size)`)})
      UNION ALL
      (${newestFirst(`file.record r JOIN ${VISIBLE} v ON v.id = r.node_id
        WHERE NOT (SELECT few FROM size) AND (r.node_id IN (SELECT a.id FROM held a)) IS TRUE AND ${after(filter)}`)})`)}) AS json`,
};

/**
 * One page of files. $1 user, $2 sees all, $3 page size, $4 and $5 sort key, $6 the node or the session of
 * lists that have one: no row when the node is absent or hidden.
 */
export const LIST_FILES: Readonly<Record<FileList, Readonly<Record<SectionFilter, Statement>>>> = {
  all: statementsOf('all'),
  node: statementsOf('node'),
  session: statementsOf('session'),
};

function statementsOf(list: FileList): Readonly<Record<SectionFilter, Statement>> {
  const of = (filter: SectionFilter): Statement => statement(`file.list_${list}_${filter}`, LISTS[list](filter));
  return { any: of('any'), wip: of('wip'), output: of('output') };
}
