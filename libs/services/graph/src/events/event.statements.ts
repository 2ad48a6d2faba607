import { Id, Timestamp } from '@workspace-graph/contracts';
import { cursorOf, levelOf, pageJson, statement, VISIBLE } from '@workspace-graph/database';
import { z } from 'zod';
import { eventJson, listedEventJson } from '../shared/projections.js';

/** Sort key of a list of events: when it happened, and its id. */
export const EVENT_CURSOR = cursorOf<[string, string]>('list_events', z.tuple([Timestamp, Id]));

/** One event of a visible node. $1 user, $2 sees all, $3 event. */
export const EVENT = statement(
  'event.one',
  `
  SELECT ${eventJson('e')}::text AS json, e.version FROM graph.event e JOIN ${VISIBLE} n ON n.id = e.node_id WHERE e.id = $3::uuid`,
);

/** The same with what its node goes by. */
export const EVENT_WITH_NODE = statement(
  'event.one_with_node',
  `
  SELECT ${listedEventJson('e')}::text AS json, e.version FROM graph.event e JOIN ${VISIBLE} n ON n.id = e.node_id WHERE e.id = $3::uuid`,
);

/** What an answer is made of. */
const EVENT_COLUMNS = [
  'id',
  'node_id',
  'kind',
  'status',
  'content',
  'occurred_at',
  'logged_at',
  'logged_by',
  'resolution',
  'resolved_at',
  'resolved_by',
  'supersedes_id',
  'version',
];

const EVENT_FILTERS = `
  (e.occurred_at, e.id) < ($4::timestamptz, $5::uuid) AND e.occurred_at >= $6::timestamptz AND e.occurred_at < $7::timestamptz
  AND e.status = ANY ($8::text[]) AND ($9::text[] IS NULL OR e.kind = ANY ($9::text[]))`;

/** Rows for pageJson of the events that `from` selects. $3 page size, $4 and $5 sort key, $6 from, $7 to, $8 statuses, $9 kinds. */
const eventRows = (from: string): string => `
  SELECT ${listedEventJson('e')} AS item, ${EVENT_CURSOR.sql('graph.iso(e.occurred_at)', 'e.id')} AS cursor, e.place
  FROM (
    SELECT ${EVENT_COLUMNS.map((column) => `e.${column}`).join(', ')}, row_number() OVER (ORDER BY e.occurred_at DESC, e.id DESC) AS place
    FROM ${from} ${EVENT_FILTERS} ORDER BY e.occurred_at DESC, e.id DESC LIMIT $3::int + 1
  ) e`;

/** The timeline of one visible node, $10; no row when it is absent or hidden. */
export const EVENTS_OF_NODE = statement(
  'event.list_of_node',
  `
  SELECT (${pageJson('$3::int', eventRows('graph.event e WHERE e.node_id = n.id AND'))}) AS json FROM ${VISIBLE} n WHERE n.id = $10::uuid`,
);

/** Events of everything visible. */
export const EVENTS_OF_ALL = statement(
  'event.list_of_all',
  pageJson(
    '$3::int',
    eventRows(`
  graph.event e JOIN ${VISIBLE} n ON n.id = e.node_id WHERE`),
  ),
);

/** Up to this many nodes, their timelines are merged; beyond, the newest events of all are looked through for theirs. */
const FEW_NODES = 300;

const newestFirst = (from: string): string => `
  SELECT e.* FROM ${from} ORDER BY e.occurred_at DESC, e.id DESC LIMIT $3::int + 1`;

/** Events of the nodes that a session, $10, holds. */
export const EVENTS_OF_SESSION = statement(
  'event.list_of_session',
  `
  WITH held AS MATERIALIZED (SELECT c.id FROM session.scope_nodes($10::uuid) AS c(id)),
  size AS MATERIALIZED (SELECT count(*) <= ${FEW_NODES} AS few FROM held)
  SELECT (${pageJson(
    '$3::int',
    eventRows(`(
    (${newestFirst(`held a JOIN ${VISIBLE} n ON n.id = a.id CROSS JOIN LATERAL (
      ${newestFirst(`graph.event e WHERE e.node_id = n.id AND ${EVENT_FILTERS}`)}) e WHERE (SELECT few FROM size)`)})
    UNION ALL
    (${newestFirst(`graph.event e JOIN ${VISIBLE} n ON n.id = e.node_id
      WHERE NOT (SELECT few FROM size) AND (e.node_id IN (SELECT a.id FROM held a)) IS TRUE AND ${EVENT_FILTERS}`)})
  ) e WHERE`),
  )}) AS json`,
);

/** An event of a visible node, both locked for a change, with what the caller may do there. $1 user, $2 sees all, $3 event. */
export const EVENT_FOR_CHANGE = statement(
  'event.for_change',
  `
  SELECT e.id, e.node_id, e.kind, e.status, e.content, graph.iso(e.occurred_at) AS occurred_at, e.resolution, e.version,
    ${levelOf('n')} AS level
  FROM graph.event e JOIN graph.node n ON n.id = e.node_id
  WHERE e.id = $3::uuid AND EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = e.node_id)
  FOR KEY SHARE OF n FOR UPDATE OF e`,
);

/** $1 id, $2 node, $3 kind, $4 content, $5 time of happening, $6 author, $7 the event it supersedes. */
export const INSERT_EVENT = statement(
  'event.insert',
  `
  INSERT INTO graph.event (id, node_id, kind, content, occurred_at, logged_by, supersedes_id)
  VALUES ($1::uuid, $2::uuid, $3::text, $4::text, $5::timestamptz, $6::uuid, $7::uuid)`,
);

/** $1 id, $2 kind, $3 content, $4 time of happening. */
export const EDIT_EVENT = statement(
  'event.edit',
  `
  UPDATE graph.event SET kind = $2::text, content = $3::text, occurred_at = $4::timestamptz, version = version + 1 WHERE id = $1::uuid`,
);

/** $1 id, $2 resolution, $3 who. */
export const RESOLVE_EVENT = statement(
  'event.resolve',
  `
  UPDATE graph.event SET status = 'resolved', resolution = $2::text, resolved_by = $3::uuid, resolved_at = now(), version = version + 1
  WHERE id = $1::uuid`,
);

/** $1 id, $2 status. */
export const SET_EVENT_STATUS = statement(
  'event.set_status',
  `
  UPDATE graph.event SET status = $2::text, version = version + 1 WHERE id = $1::uuid`,
);

/**
 * Logging, the hottest write, with the look at the node: $1 user, $2 sees all, $3 id of the event, $4 node, $5 kind,
 * $6 content, $7 time of happening or null, $8 author. No row for a node that is absent or hidden, no event for one on
 * which the caller may not write. The node's lock keeps a purge from passing in between; a hidden node is left out before
 * it is locked.
 */
export const LOG_EVENT = statement(
  'event.log',
  `
  WITH target AS MATERIALIZED (
    SELECT n.id, ${levelOf('n')} AS level
    FROM graph.node n WHERE n.id = $4::uuid AND ${levelOf('n')} > 0 FOR KEY SHARE
  ), logged AS (
    INSERT INTO graph.event (id, node_id, kind, content, occurred_at, logged_by)
    SELECT $3::uuid, t.id, $5::text, $6::text, coalesce($7::timestamptz, now()), $8::uuid FROM target t WHERE t.level = 2
    RETURNING ${EVENT_COLUMNS.join(', ')}
  )
  SELECT l.* FROM target LEFT JOIN (
    SELECT ${eventJson('e')}::text AS json, e.version, graph.iso(e.occurred_at) AS occurred_at FROM logged e) l ON true`,
);
