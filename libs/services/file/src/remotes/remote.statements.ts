import { statement } from '@workspace-graph/database';

/** Remotes and the rules that route to them. Neither names a node, so nothing of them is hidden from anybody who may ask. */

/** What a remote is opened with. */
export interface RemoteSettingsRow {
  readonly name: string;
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly secret_id: string | null;
  readonly root_marker: string;
  readonly version: number;
}

export interface RemoteRow extends RemoteSettingsRow {
  readonly id: string;
  readonly grade: Readonly<Record<string, unknown>>;
  /** Files that are recorded on it. */
  readonly files: number;
}

const COLUMNS = `m.id::text AS id, m.name, m.type, m.config, m.secret_id::text AS secret_id, m.root_marker::text AS root_marker, m.grade, m.version`;
const FILES = '(SELECT count(*)::int FROM file.record r WHERE r.remote_name = m.name) AS files';

/** All of them, by name. */
export const LIST_REMOTES = statement(
  'file.remotes',
  `SELECT ${COLUMNS}, 0 AS files FROM file.remote m ORDER BY m.name`,
);

/** $1 name. */
export const REMOTE_SETTINGS_ROW = statement(
  'file.remote_settings',
  `SELECT m.name, m.type, m.config, m.secret_id::text AS secret_id, m.root_marker::text AS root_marker, m.version FROM file.remote m WHERE m.name = $1::text`,
);

/** $1 name. */
export const FIND_REMOTE = statement(
  'file.remote',
  `SELECT ${COLUMNS}, ${FILES} FROM file.remote m WHERE m.name = $1::text`,
);

/** The same, until the end of the transaction nobody else's. $1 name. */
export const LOCK_REMOTE = statement(
  'file.lock_remote',
  `SELECT ${COLUMNS}, ${FILES} FROM file.remote m WHERE m.name = $1::text FOR UPDATE`,
);

/** Whether a mark is one of ours, and whose root it is at present. $1 mark. */
export const FIND_ROOT = statement(
  'file.remote_root',
  `SELECT m.name FROM file.remote_root o LEFT JOIN file.remote m ON m.root_marker = o.marker WHERE o.marker = $1::uuid`,
);

/** $1 mark. */
export const CLAIM_ROOT = statement('file.claim_root', 'INSERT INTO file.remote_root (marker) VALUES ($1::uuid)');

/** $1 id of a new one, $2 name, $3 type, $4 config, $5 where its credentials are, $6 mark, $7 grade, $8 author. */
export const SAVE_REMOTE = statement(
  'file.save_remote',
  `
  INSERT INTO file.remote (id, name, type, config, secret_id, root_marker, grade, created_by, updated_by)
  VALUES ($1::uuid, $2::text, $3::text, $4::jsonb, $5::uuid, $6::uuid, $7::jsonb, $8::uuid, $8::uuid)
  ON CONFLICT (name) DO UPDATE SET type = excluded.type, config = excluded.config, secret_id = excluded.secret_id,
    root_marker = excluded.root_marker, grade = excluded.grade, version = file.remote.version + 1, updated_at = now(),
    updated_by = excluded.updated_by
  RETURNING id::text AS id`,
);

/** $1 name, $2 grade, $3 author. */
export const SAVE_GRADE = statement(
  'file.save_grade',
  `UPDATE file.remote SET grade = $2::jsonb, version = version + 1, updated_at = now(), updated_by = $3::uuid WHERE name = $1::text`,
);

/** $1 name. */
export const DELETE_REMOTE = statement('file.delete_remote', 'DELETE FROM file.remote WHERE name = $1::text');

/** $1 name. */
export const RULES_OF_REMOTE = statement(
  'file.rules_of_remote',
  'SELECT count(*)::int AS rules FROM file.routing_rule WHERE remote_name = $1::text',
);

/** Ids under which the token store has credentials of a remote. */
export const USED_SECRETS = statement(
  'file.used_secrets',
  'SELECT secret_id::text AS id FROM file.remote WHERE secret_id IS NOT NULL',
);

/** In the order in which they were given. */
export const LIST_RULES = statement(
  'file.routing_rules',
  `SELECT priority, node_type, organization_key AS org_slug, remote_name FROM file.routing_rule ORDER BY place`,
);

/** Nobody else replaces the policy meanwhile, nor forgets one of the remotes. */
export const LOCK_RULES = statement('file.lock_rules', 'LOCK TABLE file.routing_rule IN SHARE ROW EXCLUSIVE MODE');

export const DELETE_RULES = statement('file.delete_rules', 'DELETE FROM file.routing_rule');

/** $1 rules in their order. */
export const INSERT_RULES = statement(
  'file.insert_rules',
  `
  INSERT INTO file.routing_rule (place, priority, node_type, organization_key, remote_name)
  SELECT w.place - 1, (w.rule ->> 'priority')::int, w.rule ->> 'node_type', w.rule ->> 'org_slug', w.rule ->> 'remote_name'
  FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS w(rule, place)`,
);

/** Which of these names no remote has. $1 names. */
export const UNKNOWN_REMOTES = statement(
  'file.unknown_remotes',
  `SELECT w.name FROM unnest($1::text[]) AS w(name) WHERE NOT EXISTS (SELECT FROM file.remote m WHERE m.name = w.name)`,
);

/** Which of these keys no organization has. $1 keys. */
export const UNKNOWN_ORGANIZATIONS = statement(
  'file.unknown_organizations',
  `
  SELECT w.key FROM unnest($1::text[]) AS w(key)
  WHERE NOT EXISTS (SELECT FROM graph.node_place n WHERE n.type = 'organization' AND n.sync_key = w.key)`,
);
