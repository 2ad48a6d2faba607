import { Id } from '@workspace-graph/contracts';
import { cursorOf, FIRST_ID, namePattern, pageJson, statement } from '@workspace-graph/database';
import { z } from 'zod';

type ActorKey = [nameFolded: string, id: string];

export const ACTOR_CURSOR = cursorOf<ActorKey>('list_actors', z.tuple([z.string(), Id]));
export const ACTORS_START: ActorKey = ['', FIRST_ID];

const actorJson = `json_build_object('id', a.id, 'type', a.type, 'name', a.name, 'user_id', a.user_id,
  'placeholder', a.type = 'person' AND a.user_id IS NULL, 'version', a.version,
  'created_at', graph.iso(a.created_at), 'updated_at', graph.iso(a.updated_at))`;

/** $1 actor. */
export const ACTOR = statement(
  'actor.by_id',
  `SELECT ${actorJson}::text AS json, a.version FROM graph.actor a WHERE a.id = $1::uuid`,
);

/** The actor that a user is tied to. $1 user. */
export const ACTOR_OF_USER = statement(
  'actor.of_user',
  `SELECT ${actorJson} AS actor FROM graph.actor a WHERE a.user_id = $1::uuid`,
);

/** One page by name. $1 type or null, $2 part of the name or null, $3 and $4 sort key, $5 page size. */
export const LIST_ACTORS = statement(
  'actor.list',
  pageJson(
    '$5::int',
    `
  SELECT ${actorJson} AS item, ${ACTOR_CURSOR.sql('a.name_folded', 'a.id')} AS cursor, row_number() OVER (ORDER BY a.name_folded, a.id) AS place
  FROM graph.actor a
  WHERE (a.name_folded, a.id) > ($3::text, $4::uuid) AND ($1::text IS NULL OR a.type = $1::text)
    AND ($2::text IS NULL OR a.name_folded LIKE ${namePattern('$2::text')})
  ORDER BY a.name_folded, a.id LIMIT $5::int + 1`,
  ),
);

/** No row when the user is tied to another actor. $1 id, $2 type, $3 name, $4 user. */
export const INSERT_ACTOR = statement(
  'actor.insert',
  `
  INSERT INTO graph.actor (id, type, name, user_id) VALUES ($1::uuid, $2::text, $3::text, $4::uuid) ON CONFLICT DO NOTHING RETURNING id`,
);

/** An actor's own columns, locked for a change. $1 actor. */
export const ACTOR_FOR_CHANGE = statement(
  'actor.for_change',
  `
  SELECT a.id::text AS id, a.type, a.name, a.user_id::text AS user_id, a.version FROM graph.actor a WHERE a.id = $1::uuid FOR NO KEY UPDATE`,
);

/** $1 actor, $2 name, $3 user. */
export const UPDATE_ACTOR = statement(
  'actor.update',
  `
  UPDATE graph.actor SET name = $2::text, user_id = $3::uuid, version = version + 1, updated_at = now() WHERE id = $1::uuid`,
);

/** Keeps a user from being removed until the end of the transaction. $1 user. */
export const HOLD_USER = statement(
  'actor.hold_user',
  `SELECT 1 AS found FROM identity.known_user u WHERE u.id = $1::uuid FOR KEY SHARE`,
);

/** Nodes with a list of their own that the actor owns: its user passes them. $1 actor. */
export const GATES_OF_ACTOR = statement(
  'actor.gates',
  `
  SELECT n.id::text AS id FROM graph.node n WHERE n.owner_id = $1::uuid AND n.visibility IN ('private', 'group')`,
);

/** Nodes that show the actor's name. $1 actor. */
export const NODES_OF_ACTOR = statement(
  'actor.nodes',
  `
  SELECT n.id::text AS id FROM graph.node n WHERE n.owner_id = $1::uuid
  UNION
  SELECT r.node_id::text FROM graph.responsibility_assignee ra JOIN graph.responsibility r ON r.id = ra.responsibility_id WHERE ra.actor_id = $1::uuid`,
);

/** Locks the one that goes against new uses, and keeps the one that stays. $1 actor that goes, $2 actor that stays or null. */
export const ACTORS_FOR_REMOVAL = statement(
  'actor.for_removal',
  `
  SELECT a.id::text AS id, a.type, a.name, a.user_id::text AS user_id, a.version
  FROM graph.actor a WHERE a.id IN ($1::uuid, $2::uuid) ORDER BY a.id FOR UPDATE`,
);

/** Where an actor is used, by the name of the node. $1 actor, $2 how many. */
export const ACTOR_USES = statement(
  'actor.uses',
  `
  WITH used AS (
    SELECT 'owner' AS kind, n.id AS node_id, n.name AS node_name, n.name_folded, NULL::uuid AS responsibility_id
    FROM graph.node n WHERE n.owner_id = $1::uuid
    UNION ALL
    SELECT 'assignee', n.id, n.name, n.name_folded, r.id
    FROM graph.responsibility_assignee ra JOIN graph.responsibility r ON r.id = ra.responsibility_id JOIN graph.node n ON n.id = r.node_id
    WHERE ra.actor_id = $1::uuid
  )
  SELECT (SELECT count(*)::int FROM used) AS count, coalesce((
    SELECT json_agg(json_build_object('kind', u.kind, 'node_id', u.node_id, 'node_name', u.node_name, 'responsibility_id', u.responsibility_id))
    FROM (SELECT * FROM used ORDER BY kind DESC, name_folded, node_id, responsibility_id LIMIT $2::int) u), '[]') AS uses`,
);

/** $1 actor that goes, $2 actor that takes over. */
export const REASSIGN_NODES = statement(
  'actor.reassign_nodes',
  `
  UPDATE graph.node SET owner_id = $2::uuid, version = version + 1, updated_at = now() WHERE owner_id = $1::uuid
  RETURNING id::text AS id, visibility IN ('private', 'group') AS gate`,
);

/** Hands over assignments; where the other actor answers already, the one that goes is just dropped. $1 goes, $2 takes over. */
export const REASSIGN_RESPONSIBILITIES = statement(
  'actor.reassign_responsibilities',
  `
  WITH taken AS (
    UPDATE graph.responsibility_assignee ra SET actor_id = $2::uuid
    WHERE ra.actor_id = $1::uuid AND NOT EXISTS (
      SELECT FROM graph.responsibility_assignee x WHERE x.responsibility_id = ra.responsibility_id AND x.actor_id = $2::uuid)
    RETURNING ra.responsibility_id
  ), dropped AS (
    DELETE FROM graph.responsibility_assignee ra WHERE ra.actor_id = $1::uuid AND EXISTS (
      SELECT FROM graph.responsibility_assignee x WHERE x.responsibility_id = ra.responsibility_id AND x.actor_id = $2::uuid)
    RETURNING ra.responsibility_id
  )
  SELECT r.id::text AS id, r.node_id::text AS node_id FROM graph.responsibility r
  WHERE r.id IN (SELECT t.responsibility_id FROM taken t UNION ALL SELECT d.responsibility_id FROM dropped d)`,
);

/** Raises the version of nodes whose responsibilities changed hands. $1 nodes. */
export const TOUCH_NODES = statement(
  'actor.touch_nodes',
  `
  UPDATE graph.node SET version = version + 1, updated_at = now() WHERE id = ANY ($1::uuid[])`,
);

/** $1 actor. */
export const DELETE_ACTOR = statement('actor.delete', `DELETE FROM graph.actor WHERE id = $1::uuid`);
