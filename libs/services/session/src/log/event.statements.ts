import { publishedFrom, statement, VISIBLE } from '@workspace-graph/database';
import { seenSession, viewersOf } from '../shared/session.statements.js';

/** A page of a log holds less than this many bytes of payload, but for one that is larger by itself. */
const PAGE_BYTES = 4 * 1_048_576;
const LOGS_BYTES = 4 * PAGE_BYTES;

/** Names nodes, of which every reader is told those that they see. */
const TOLD_BY_SIGHT = 'scope_changed';

const eventJson = (
  e: string,
  payload: string,
): string => `json_build_object('seq', ${e}.seq, 'id', ${e}.id, 'session_id', ${e}.session_id,
  'run_id', ${e}.run_id, 'at', graph.iso(${e}.at), 'kind', ${e}.kind, 'payload', ${payload})`;

/**
 * The payload with those of its nodes that `condition` on the node `n` lets through. Why they joined may say what they are:
 * without one of them, `hasReason` decides whether it is told.
 */
const seenPayload = (
  e: string,
  condition: string,
  hasReason: string,
): string => `CASE WHEN ${e}.kind <> '${TOLD_BY_SIGHT}' THEN ${e}.payload ELSE (
  SELECT (jsonb_set(${e}.payload::jsonb, '{node_ids}', w.ids) - CASE WHEN w.ids = '[]'::jsonb AND NOT ${hasReason} THEN 'reason' ELSE '' END)::json
  FROM (SELECT coalesce((
    SELECT jsonb_agg(n.id) FROM jsonb_array_elements_text(${e}.payload::jsonb -> 'node_ids') AS n(id) WHERE ${condition}), '[]') AS ids) w) END`;
/** As the caller sees it. Whoever owns the session or manages has read the reason before the nodes were gone. */
const BY_CALLER = seenPayload(
  'e',
  `EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = n.id::uuid)`,
  '($2::boolean OR s.owner_id = $1::uuid)',
);
/** As anybody may see it. */
const BY_ANYBODY = seenPayload('e', 'false', 'false');

/** Events of `rows`, which come in the order `direction`, up to the size of a page, as `gather` puts their JSON together. */
const pageOf = (
  rows: string,
  direction: 'ASC' | 'DESC',
  gather: (event: string) => string,
  { payload = BY_CALLER, bytes = `${PAGE_BYTES}` } = {},
): string => `(SELECT ${gather(eventJson('e', payload))} FROM (
    SELECT r.*, sum(octet_length(r.payload::text)) OVER (ORDER BY r.seq ${direction}) - octet_length(r.payload::text) AS before FROM (${rows}) r
  ) e WHERE e.before < ${bytes})`;

const asArray = (event: string): string => `coalesce(json_agg(${event} ORDER BY e.seq), '[]')`;
/** The inside of an array: each JSON value around it would be one more copy of all. */
const asText = (event: string): string => `coalesce(string_agg(${event}::text, ',' ORDER BY e.seq), '')`;

/** A page as its statement answers it: the inside of the array of its events, and the last seq of the log. */
export interface EventPage extends Record<string, unknown> {
  readonly items: string;
  readonly last_seq: number;
}

const pageStatement = (name: string, direction: 'ASC' | 'DESC') =>
  statement(
    name,
    `
  SELECT ${pageOf(`SELECT e.* FROM session.event e WHERE e.session_id = s.id AND e.seq > $4::int ORDER BY e.seq ${direction} LIMIT $5::int`, direction, asText)} AS items, s.last_seq
  FROM session.session s WHERE s.id = $3::uuid AND ${seenSession('s')}`,
  );

/** Who of the viewers at `places` sees a session. $5 users of all viewers, $6 whether each sees all. */
const seenBy = (s: string, places: string): string => viewersOf(s, places, '$5', '$6');

/** The log after a seq, of a session that the caller sees. $1 user, $2 sees all, $3 session, $4 after, $5 limit. */
export const EVENTS = pageStatement('session.events', 'ASC');
/** The same from its end. */
export const NEWEST_EVENTS = pageStatement('session.newest_events', 'DESC');

/**
 * The logs of several sessions, which share the bytes of some pages, and who sees each. Changes of the scope name no nodes:
 * who may know which reads them by `EVENTS`. $1 sessions, $2 after, of each,
 * $3 limit of each, $4 for each the places of its viewers, as JSON, $5 users of the viewers, $6 whether each sees all.
 */
export const LOGS = statement(
  'session.logs',
  `
  SELECT json_build_object('logs', coalesce(json_agg(json_build_object('session_id', s.id, 'items', ${pageOf(
    'SELECT e.* FROM session.event e WHERE e.session_id = s.id AND e.seq > w.after ORDER BY e.seq LIMIT $3::int',
    'ASC',
    asArray,
    { payload: BY_ANYBODY, bytes: `${LOGS_BYTES} / cardinality($1::uuid[])` },
  )}, 'last_seq', s.last_seq, 'seen_by', ${seenBy('s', 'SELECT v.place::int FROM json_array_elements_text(w.viewers::json) AS v(place)')})), '[]'))::text AS json
  FROM unnest($1::uuid[], $2::int[], $4::text[]) AS w(id, after, viewers) JOIN session.session s ON s.id = w.id`,
);

/** The output of an event, of a session that the caller sees. $1 user, $2 sees all, $3 session, $4 event. */
export const OUTPUT = statement(
  'session.output',
  `
  SELECT (SELECT json_build_object('text', o.text, 'is_complete', o.is_complete)::text
    FROM session.output o WHERE o.session_id = s.id AND o.event_id = $4::uuid) AS output
  FROM session.session s WHERE s.id = $3::uuid AND ${seenSession('s')}`,
);

/** The time of the last activity is in an index: it is renewed once in a while. Being archived is no activity. */
const grow = (events: string): string => `
    UPDATE session.session s SET last_seq = s.last_seq + ${events},
      last_activity_at = CASE WHEN s.state IN ('running', 'suspended') AND s.last_activity_at < now() - interval '5 seconds'
        THEN now() ELSE s.last_activity_at END`;

/**
 * Appends events to a session whose row is locked; what is there under an id stays. $1 session, $2 run, $3 ids, $4 times,
 * $5 kinds, $6 payloads, $7 the run without which nothing is appended; null: any. Answers each id with its seq.
 */
export const APPEND = statement(
  'session.append',
  `
  WITH known AS MATERIALIZED (
    -- One look into the index of ids for each: nothing else gives this order, so a plan that was made while logs were short
    -- reads no whole log either.
    SELECT k.id, k.seq FROM unnest($3::uuid[]) AS g(id) CROSS JOIN LATERAL (
      SELECT e.id, e.seq FROM session.event e WHERE e.session_id = $1::uuid AND e.id >= g.id ORDER BY e.id LIMIT 1
    ) k WHERE k.id = g.id
  ), given AS MATERIALIZED (
    SELECT g.id, g.at, g.kind, g.payload, row_number() OVER (ORDER BY g.place) AS place
    FROM unnest($3::uuid[], $4::timestamptz[], $5::text[], $6::text[]) WITH ORDINALITY AS g(id, at, kind, payload, place)
    WHERE NOT EXISTS (SELECT FROM known k WHERE k.id = g.id)
  ), grown AS (
    ${grow('(SELECT count(*)::int FROM given)')}
    WHERE s.id = $1::uuid AND ($7::uuid IS NULL OR s.live_run_id = $7::uuid) AND EXISTS (SELECT FROM given) RETURNING s.last_seq
  ), added AS (
    INSERT INTO session.event (session_id, seq, id, run_id, at, kind, payload)
    SELECT $1::uuid, w.last_seq - (SELECT count(*)::int FROM given) + g.place::int, g.id, $2::uuid, coalesce(g.at, now()), g.kind, g.payload::json
    FROM given g, grown w RETURNING id, seq
  )
  SELECT a.id::text AS id, a.seq, true AS is_new FROM added a
  UNION ALL SELECT k.id::text, k.seq, false FROM known k`,
);

/**
 * Appends new events to a session that is the caller's own and in the hands of a live run; no row where anything is otherwise.
 * An id that is there already breaks it off by the rule of the index.
 * $1 user, $2 sees all, $3 session, $4 run, $5 ids, $6 times, $7 kinds, $8 payloads, $9 id of the message that the log has
 * grown. Answers the seq before them.
 */
export const APPEND_AT_ONCE = statement(
  'session.append_at_once',
  `
  WITH grown AS (
    ${grow('cardinality($5::uuid[])')}
    WHERE s.id = $3::uuid AND s.owner_id = $1::uuid AND s.live_run_id = $4::uuid AND ${seenSession('s')}
    RETURNING s.last_seq, s.last_seq - cardinality($5::uuid[]) AS before
  ), added AS (
    INSERT INTO session.event (session_id, seq, id, run_id, at, kind, payload)
    SELECT $3::uuid, w.before + g.place::int, g.id, $4::uuid, coalesce(g.at, now()), g.kind, g.payload::json
    FROM grown w, unnest($5::uuid[], $6::timestamptz[], $7::text[], $8::text[]) WITH ORDINALITY AS g(id, at, kind, payload, place)
  ), told AS (
    ${publishedFrom('session.appended', '$9::uuid', `jsonb_build_object('session_id', $3::uuid, 'last_seq', w.last_seq)`, 'grown w')}
  )
  SELECT w.before FROM grown w`,
);

/** $1 session, $2 ids of events, $3 texts, $4 whether each is whole, $5 bytes of all of them. */
export const KEEP_OUTPUTS = statement(
  'session.keep_outputs',
  `
  WITH kept AS (
    INSERT INTO session.output (session_id, event_id, text, is_complete)
    SELECT $1::uuid, o.id, o.text, o.is_complete FROM unnest($2::uuid[], $3::text[], $4::boolean[]) AS o(id, text, is_complete)
  )
  UPDATE session.session s SET output_bytes = s.output_bytes + $5::bigint WHERE s.id = $1::uuid`,
);
