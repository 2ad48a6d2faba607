import { Id } from '@workspace-graph/contracts';
import { cursorOf, namePattern, pageJson, statement } from '@workspace-graph/database';
import { z } from 'zod';

/** Sort keys of lists of groups and of members: folded name and id. */
const NameKey = z.tuple([z.string(), Id]);
export const GROUP_CURSOR = cursorOf<[string, string]>('list_groups', NameKey);
export const MEMBER_CURSOR = cursorOf<[string, string]>('list_group_members', NameKey);

const GROUP = `json_build_object(
  'id', g.id, 'name', g.name, 'claim', g.claim,
  'member_count', (SELECT count(*)::int FROM identity.membership m WHERE m.group_id = g.id),
  'version', g.version, 'created_at', graph.iso(g.created_at), 'updated_at', graph.iso(g.updated_at))`;

/** Group of $1. */
export const GROUP_BY_ID = statement(
  'group.by_id',
  `SELECT ${GROUP} AS json FROM identity.user_group g WHERE g.id = $1::uuid`,
);

/** Part of the name $1 or null, page size $2, name $3 and id $4 of the last group before. */
export const GROUP_PAGE = statement(
  'group.page',
  pageJson(
    '$2::int',
    `
  SELECT ${GROUP} AS item, ${GROUP_CURSOR.sql('g.name_folded', 'g.id')} AS cursor, row_number() OVER (ORDER BY g.name_folded, g.id) AS place
  FROM identity.user_group g
  WHERE ($1::text IS NULL OR g.name_folded LIKE ${namePattern('$1::text')} OR graph.fold(g.claim) LIKE ${namePattern('$1::text')}) AND (g.name_folded, g.id) > ($3::text, $4::uuid)
  ORDER BY g.name_folded, g.id LIMIT $2::int + 1`,
  ),
);

/** Group $1, page size $2, name $3 and id $4 of the last member before. */
export const MEMBER_PAGE = statement(
  'group.member_page',
  pageJson(
    '$2::int',
    `
  SELECT json_build_object('id', u.id, 'name', u.name) AS item, ${MEMBER_CURSOR.sql('u.name_folded', 'u.id')} AS cursor,
    row_number() OVER (ORDER BY u.name_folded, u.id) AS place
  FROM identity.membership m JOIN identity."user" u ON u.id = m.user_id
  WHERE m.group_id = $1::uuid AND (u.name_folded, u.id) > ($3::text, $4::uuid)
  ORDER BY u.name_folded, u.id LIMIT $2::int + 1`,
  ),
);

/** $1 id, $2 name, $3 claim. */
export const INSERT_GROUP = statement(
  'group.insert',
  `INSERT INTO identity.user_group (id, name, claim) VALUES ($1::uuid, $2::text, $3::text)`,
);

/** The group $1: $2 name, $3 claim. */
export const UPDATE_GROUP = statement(
  'group.update',
  `
  UPDATE identity.user_group SET name = $2::text, claim = $3::text, version = version + 1, updated_at = now() WHERE id = $1::uuid`,
);

/** The group $1 has other members. */
export const TOUCH_GROUP = statement(
  'group.touch',
  `UPDATE identity.user_group SET version = version + 1, updated_at = now() WHERE id = $1::uuid`,
);

export const DELETE_GROUP = statement('group.delete', `DELETE FROM identity.user_group WHERE id = $1::uuid`);

/** Locks the group $1 for a change. */
export const GROUP_FOR_CHANGE = statement(
  'group.for_change',
  `
  SELECT id, name, claim, version FROM identity.user_group WHERE id = $1::uuid FOR UPDATE`,
);

/** Groups other than $1 that have the name $2 or the claim $3. */
export const GROUP_TAKEN = statement(
  'group.taken',
  `
  SELECT id, name_folded = graph.fold($2::text) AS by_name FROM identity.user_group
  WHERE id IS DISTINCT FROM $1::uuid AND (name_folded = graph.fold($2::text) OR claim = $3::text)`,
);

/** Adds the users $2 to the group $1 by hand; answers those who are new to it. */
export const ADD_MEMBERS = statement(
  'group.add_members',
  `
  WITH kept AS (
    UPDATE identity.membership SET source = 'manual' WHERE group_id = $1::uuid AND user_id = ANY ($2::uuid[]) AND source <> 'manual'
  )
  INSERT INTO identity.membership (group_id, user_id, source) SELECT $1::uuid, u, 'manual' FROM unnest($2::uuid[]) u
  ON CONFLICT DO NOTHING RETURNING user_id`,
);

/** Removes the users $2 from the group $1; answers those who were in it. */
export const REMOVE_MEMBERS = statement(
  'group.remove_members',
  `
  DELETE FROM identity.membership WHERE group_id = $1::uuid AND user_id = ANY ($2::uuid[]) RETURNING user_id`,
);

/** Ends the memberships of the group $1 that came from claims; answers whose. */
export const REMOVE_CLAIMED_MEMBERS = statement(
  'group.remove_claimed_members',
  `
  DELETE FROM identity.membership WHERE group_id = $1::uuid AND source = 'claim' RETURNING user_id`,
);

/** Members of the group $1, and the nodes that are shared with it. */
export const GROUP_USES = statement(
  'group.uses',
  `
  SELECT ARRAY(SELECT m.user_id FROM identity.membership m WHERE m.group_id = $1::uuid ORDER BY 1)::text[] AS member_ids,
    ARRAY(SELECT s.id FROM graph.shared_with_group($1::uuid) AS s(id) ORDER BY 1)::text[] AS node_ids`,
);

/** Which of the users $1 do not exist, with their places in the list. */
export const MISSING_USERS = statement(
  'group.missing_users',
  `
  SELECT i.id::text AS id, (i.place - 1)::int AS place FROM unnest($1::uuid[]) WITH ORDINALITY AS i(id, place)
  WHERE NOT EXISTS (SELECT FROM identity."user" u WHERE u.id = i.id) ORDER BY i.place`,
);
