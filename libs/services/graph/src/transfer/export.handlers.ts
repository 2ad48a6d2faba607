import { Controller } from '@nestjs/common';
import { exportGraph, type ParsedInputOf, RawJson } from '@workspace-graph/contracts';
import { Database, statement } from '@workspace-graph/database';
import { Handles } from '@workspace-graph/platform';
import { Turns } from '../shared/turns.js';

/** A document is the longest answer there is, and whole in memory until it is sent. */
const WRITTEN_AT_ONCE = 2;

/** Writes everything out as one document, in one statement and so of one moment. */
@Controller()
export class ExportHandlers {
  private readonly turns = new Turns(WRITTEN_AT_ONCE);

  constructor(private readonly database: Database) {}

  @Handles(exportGraph)
  async export(_input: ParsedInputOf<typeof exportGraph>): Promise<RawJson> {
    const { rows } = await this.turns.take(() =>
      this.database.transaction(
        async (client) => ({ result: await client.query<{ json: string }>(EXPORT.text) }),
        exportGraph.timeoutMs,
      ),
    );
    if (!rows[0]) throw new Error('An export returns one row');
    return new RawJson(rows[0].json);
  }
}

const list = (query: string): string => `coalesce((${query}), '[]')`;
const key = (alias: string): string => `coalesce(${alias}.import_key, ${alias}.id::text)`;
const actorKey = (id: string): string => `(SELECT ${key('a')} FROM graph.actor a WHERE a.id = ${id})`;
const nodeKey = (id: string): string => `(SELECT ${key('k')} FROM graph.node k WHERE k.id = ${id})`;

const linksOf = (kind: string): string =>
  list(`
  SELECT json_agg(json_build_object('id', l.id, 'name', l.name, 'url', l.url) ORDER BY l.position) FROM graph.link l WHERE l.node_id = n.id AND l.kind = '${kind}'`);

// Users and groups have no keys of their own: their ids are. Every list is ordered, so that equal graphs give equal documents.
const EXPORT = statement(
  'export.document',
  `
  SELECT json_build_object('format', 'workspace-graph/1',
    'users', ${list(`SELECT json_agg(json_build_object('key', u.id, 'id', u.id, 'name', u.name, 'external_id', u.external_id,
      'email', u.email, 'handle', u.handle, 'max_scope', u.max_scope, 'claim_scope', u.claim_scope,
      'disabled_at', graph.iso(u.disabled_at), 'version', u.version, 'created_at', graph.iso(u.created_at), 'updated_at', graph.iso(u.updated_at)) ORDER BY u.id)
      FROM identity."user" u`)},
    'groups', ${list(`SELECT json_agg(json_build_object('key', g.id, 'id', g.id, 'name', g.name, 'claim', g.claim, 'version', g.version,
      'created_at', graph.iso(g.created_at), 'updated_at', graph.iso(g.updated_at), 'members', ${list(`
        SELECT json_agg(json_build_object('user', m.user_id, 'source', m.source) ORDER BY m.user_id) FROM identity.membership m WHERE m.group_id = g.id`)}) ORDER BY g.id)
      FROM identity.user_group g`)},
    'actors', ${list(`SELECT json_agg(json_build_object('key', ${key('a')}, 'id', a.id, 'type', a.type, 'name', a.name, 'user', a.user_id, 'version', a.version,
      'created_at', graph.iso(a.created_at), 'updated_at', graph.iso(a.updated_at)) ORDER BY a.id) FROM graph.actor a`)},
    'nodes', ${list(`SELECT json_agg(json_strip_nulls(json_build_object('key', ${key('n')}, 'id', n.id, 'type', n.type, 'name', n.name,
        'description', n.description, 'goal', n.goal, 'organization', ${nodeKey('n.organization_id')}, 'lifecycle', n.lifecycle,
        'lifecycle_before_archive', n.lifecycle_before_archive, 'health', n.health, 'health_note', n.health_note, 'health_by', n.health_by,
        'health_at', graph.iso(n.health_at), 'owner', ${actorKey('n.owner_id')}, 'sync_key', n.sync_key,
        'position', (SELECT json_build_array(p.x, p.y) FROM graph.position p WHERE p.node_id = n.id), 'created_by', n.created_by,
        'version', n.version, 'created_at', graph.iso(n.created_at), 'updated_at', graph.iso(n.updated_at)))::jsonb || jsonb_strip_nulls(jsonb_build_object(
        'responsibilities', CASE WHEN n.type IN ('project', 'process', 'area') THEN ${list(`SELECT json_agg(json_build_object('id', r.id, 'title', r.title, 'description', r.description,
          'assignees', ${list(`SELECT json_agg(${actorKey('x.actor_id')} ORDER BY x.position) FROM graph.responsibility_assignee x WHERE x.responsibility_id = r.id`)}) ORDER BY r.position)
          FROM graph.responsibility r WHERE r.node_id = n.id`)} END)) || CASE WHEN n.type IN ('project', 'process', 'area') THEN jsonb_build_object(
          'data_sources', ${linksOf('data_source')}, 'tools', ${linksOf('tool')}) ELSE '{}' END || jsonb_build_object(
        'sharing', CASE WHEN n.visibility IS NOT NULL THEN json_build_object('visibility', n.visibility, 'recipients', ${list(`
          SELECT json_agg(CASE WHEN s.user_id IS NULL THEN json_build_object('group', s.group_id, 'access', s.access) ELSE json_build_object('user', s.user_id, 'access', s.access) END
            ORDER BY s.user_id, s.group_id) FROM graph.share s WHERE s.node_id = n.id`)}) END) || coalesce((
          SELECT jsonb_build_object('membership', json_build_object('id', e.id, 'created_by', e.created_by, 'created_at', graph.iso(e.created_at)))
          FROM graph.edge e WHERE e.source_id = n.id AND e.target_id = n.organization_id AND e.relation = 'belongs_to'), '{}')
      ORDER BY n.type <> 'organization', n.id) FROM graph.node n`)},
    'edges', ${list(`SELECT json_agg(json_build_object('from', ${nodeKey('e.source_id')}, 'to', ${nodeKey('e.target_id')}, 'relation', e.relation, 'id', e.id,
      'created_by', e.created_by, 'created_at', graph.iso(e.created_at)) ORDER BY e.id) FROM graph.edge e JOIN graph.node s ON s.id = e.source_id
      WHERE NOT (e.relation = 'belongs_to' AND e.target_id IS NOT DISTINCT FROM s.organization_id)`)},
    'events', ${list(`SELECT json_agg(json_build_object('key', ${key('e')}, 'node', ${nodeKey('e.node_id')}, 'kind', e.kind, 'content', e.content,
      'occurred_at', graph.iso(e.occurred_at), 'status', e.status, 'resolution', e.resolution, 'resolved_at', graph.iso(e.resolved_at), 'resolved_by', e.resolved_by,
      'supersedes', (SELECT ${key('o')} FROM graph.event o WHERE o.id = e.supersedes_id), 'logged_at', graph.iso(e.logged_at), 'logged_by', e.logged_by,
      'id', e.id, 'version', e.version) ORDER BY e.id) FROM graph.event e`)},
    'files', ${list(`SELECT json_agg(json_build_object('id', r.id, 'node', ${nodeKey('r.node_id')}, 'path', r.path, 'sha256', r.sha256, 'size_bytes', r.size_bytes,
      'mime_type', r.mime_type, 'modified_at', graph.iso(r.modified_at), 'remote_name', r.remote_name, 'current_remote_hash', r.current_remote_hash,
      'last_pushed_at', graph.iso(r.last_pushed_at), 'is_native_format', r.is_native_format, 'version', r.version, 'created_at', graph.iso(r.created_at),
      'created_by', r.created_by, 'updated_at', graph.iso(r.updated_at), 'updated_by', r.updated_by) ORDER BY r.id) FROM file.record r`)},
    'access_requests', ${list(`SELECT json_agg(json_build_object('id', r.id, 'node_id', r.node_id, 'user', r.user_id, 'access', r.access, 'reason', r.reason, 'state', r.state,
      'requested_at', graph.iso(r.requested_at), 'decided_at', graph.iso(r.decided_at), 'decided_by', r.decided_by, 'decision_note', r.decision_note) ORDER BY r.id)
      FROM graph.access_request r`)},
    'audit', ${list(`SELECT json_agg(json_build_object('id', x.id, 'at', graph.iso(x.at), 'user', x.user_id, 'via', x.via, 'action', x.action, 'target_kind', x.target_kind,
      'target_id', x.target_id, 'before', x.before, 'after', x.after, 'request_id', x.request_id) ORDER BY x.at, x.id) FROM audit.entry x`)}
  )::text AS json`,
);
