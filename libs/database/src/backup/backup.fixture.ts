import pg from 'pg';
import { readTables } from './catalogue.js';

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const id = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

/** A row at least in every table, with texts that any careless format would spoil. */
export async function fill(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const run = (sql: string): Promise<unknown> => client.query(sql);
    const odd = `E'tab\\there\\nnew line \\\\ back\\\\slash \\\\N \\\\. "quoted" ''single'' , comma; žluťoučký 🦊 \\r end'`;
    await run('BEGIN');
    await run(
      `INSERT INTO identity."user" (id, name, external_id, max_scope, disabled_at) VALUES ('${id(1)}', ${odd}, NULL, 'manage', NULL), ('${id(2)}', '\\N', '', 'read', '2026-01-02 03:04:05.678Z')`,
    );
    await run(`INSERT INTO identity.user_group (id, name, claim) VALUES ('${id(3)}', 'Group', 'g')`);
    await run(`INSERT INTO identity.membership (group_id, user_id, source) VALUES ('${id(3)}', '${id(2)}', 'claim')`);
    await run(
      `INSERT INTO identity.token (id, kind, label, scope, user_id, secret_sha256, expires_at) VALUES ('${id(4)}', 'personal', ${odd}, 'write', '${id(1)}', sha256('secret'), now() + interval '1 day')`,
    );
    await run(
      `INSERT INTO identity.device (id, user_id, name, last_seen_at) VALUES ('${id(6)}', '${id(1)}', ${odd}, '2026-11-26T10:00Z')`,
    );
    await run(
      `INSERT INTO identity.device_invitation (id, user_id, scope, code_sha256, made_by, expires_at, device_id) VALUES ('${id(7)}', '${id(1)}', 'write', sha256('code'), '${id(4)}', now(), '${id(6)}')`,
    );
    await run(`INSERT INTO identity.bootstrap (user_id) VALUES ('${id(1)}')`);
    await run(`INSERT INTO graph.actor (id, type, name, user_id) VALUES ('${id(5)}', 'person', 'Actor', '${id(1)}')`);
    await run(
      `INSERT INTO graph.node (id, type, name, lifecycle, sync_key, created_by, visibility) VALUES ('${id(10)}', 'organization', 'Org', 'active', 'org', '${id(1)}', 'group')`,
    );
    await run(`INSERT INTO graph.node (id, type, name, description, goal, lifecycle, health, organization_id, owner_id, sync_key, created_by)
      SELECT ('00000000-0000-7000-8000-' || lpad((100 + n)::text, 12, '0'))::uuid, 'project', 'Project ' || n, ${odd}, repeat('goal ', n % 50), 'planned', 'on_track', '${id(10)}', '${id(5)}', 'project-' || n, '${id(1)}'
      FROM generate_series(1, 1200) n`);
    await run(
      `INSERT INTO graph.edge (id, source_id, target_id, relation) SELECT gen_random_uuid(), id, '${id(10)}', 'belongs_to' FROM graph.node WHERE type = 'project'`,
    );
    await run(
      `INSERT INTO graph.share (node_id, user_id, group_id, access) VALUES ('${id(10)}', '${id(2)}', NULL, 'read'), ('${id(10)}', NULL, '${id(3)}', 'write')`,
    );
    await run(
      `INSERT INTO graph.responsibility (id, node_id, node_type, position, title) VALUES ('${id(20)}', '${id(101)}', 'project', 0, ${odd})`,
    );
    await run(`INSERT INTO graph.responsibility_assignee VALUES ('${id(20)}', '${id(5)}', 0)`);
    await run(
      `INSERT INTO graph.link (id, node_id, node_type, kind, position, name, url) VALUES ('${id(21)}', '${id(101)}', 'project', 'tool', 0, 'Tool', 'https://example.org/')`,
    );
    await run(`INSERT INTO graph.position VALUES ('${id(101)}', 0.1, -1e-20)`);
    await run(
      `INSERT INTO graph.event (id, node_id, kind, content, occurred_at, supersedes_id) VALUES ('${id(30)}', '${id(101)}', 'note', ${odd}, now(), '${id(31)}'), ('${id(31)}', '${id(101)}', 'note', 'older', now(), NULL)`,
    );
    await run(
      `INSERT INTO graph.access_request (id, node_id, user_id, access) VALUES ('${id(40)}', '${id(102)}', '${id(2)}', 'read')`,
    );
    await run(
      `INSERT INTO graph.import_part (upload_id, index, user_id, data) VALUES ('${id(50)}', 0, '${id(1)}', '\\x00ff5c0a')`,
    );
    await run(
      `INSERT INTO file.record (id, node_id, path, path_key, sha256, size_bytes, mime_type, modified_at, created_by, updated_by) VALUES ('${id(80)}', '${id(101)}', 'wip/Žába "1".md', 'wip/žába "1".md', '${'0a'.repeat(32)}', 5000000000, 'text/markdown', now(), '${id(1)}', '${id(1)}'), ('${id(81)}', '${id(101)}', 'outputs/doc', 'outputs/doc', NULL, NULL, 'application/octet-stream', NULL, NULL, NULL)`,
    );
    await run(
      `INSERT INTO file.tombstone (id, file_id, node_id, path, remote_path, sha256, reason, created_by) VALUES ('${id(82)}', '${id(83)}', '${id(84)}', 'wip/gone', 'org/projects/gone/wip/gone', NULL, 'deleted', '${id(1)}')`,
    );
    await run(
      `INSERT INTO file.left_folder (organization_id, node_type, sync_key, node_id) VALUES ('${id(100)}', 'project', 'gone', '${id(84)}')`,
    );
    await run(
      `INSERT INTO file.pending_op (id, file_id, node_id, kind, from_path, to_path, last_error, attempts, device_id) VALUES ('${id(85)}', '${id(80)}', '${id(101)}', 'move', 'wip/Žába "1".md', 'wip/b', ${odd}, 2, '${id(6)}')`,
    );
    await run(
      `INSERT INTO file.upload (file_id, remote_name, remote_path, sha256, size_bytes, handle, done_bytes, done_hash) VALUES ('${id(80)}', 'main', 'a', '${'0a'.repeat(32)}', 5000000000, '{"id": "u"}', 8388608, '\\x00ff')`,
    );
    await run(`INSERT INTO file.remote_root (marker) VALUES ('${id(86)}')`);
    await run(
      `INSERT INTO file.remote (id, name, type, config, secret_id, root_marker, grade, created_by) VALUES ('${id(87)}', ${odd}, 'objstore', '{"bucket": "b", "deep": [1]}', '${id(88)}', '${id(86)}', '{}', '${id(1)}')`,
    );
    await run(`INSERT INTO file.routing_rule VALUES (0, -5, 'project', NULL, ${odd})`);
    await run(`INSERT INTO session.session (id, node_id, owner_id, origin, name, brief, policy, client, waiting_since, live_run_id, last_seq)
      VALUES ('${id(90)}', '${id(101)}', '${id(1)}', 'task', ${odd}, ${odd}, '{"b": 1,  "a": "\\u010d"}', '{}', now(), '${id(91)}', 1)`);
    await run(
      `INSERT INTO session.run (id, session_id, holder, mode, runner, lease_until) VALUES ('${id(91)}', '${id(90)}', ${odd}, 'fresh', 'mcp', now())`,
    );
    await run(
      `INSERT INTO session.event (session_id, seq, id, run_id, kind, payload) VALUES ('${id(90)}', 1, '${id(92)}', '${id(91)}', 'tool_call', '{"z": 1,  "a": "\\\\ \\" \\n"}')`,
    );
    await run(`INSERT INTO session.output VALUES ('${id(90)}', '${id(92)}', ${odd}, false)`);
    await run(
      `INSERT INTO session.question (session_id, request_id, question) VALUES ('${id(90)}', ${odd}, '{"title": "Which?"}')`,
    );
    await run(
      `INSERT INTO session.scope (session_id, node_id, access, added_via) VALUES ('${id(90)}', '${id(101)}', 'write', 'seed')`,
    );
    await run(
      `INSERT INTO audit.entry (id, user_id, via, action, target_kind, after, request_id) VALUES ('${id(60)}', '${id(1)}', 'rest', 'a', 'node', '{"name": "\\\\\\\\ \\"x\\" \\n"}', 'r')`,
    );
    await run(
      `INSERT INTO audit.concern (node_id, at, entry_id, about) SELECT '${id(10)}', e.at, e.id, 'node' FROM audit.entry e WHERE e.id = '${id(60)}'`,
    );
    await run(
      `INSERT INTO outbox.event (id, type, payload) VALUES ('${id(70)}', 'graph.changed', '{"node_ids": [], "action": "x"}')`,
    );
    await run(
      `INSERT INTO outbox.applied_call (call_id, operation, request_sha256, reply) VALUES ('c', 'o', '\\x0102', '{"a": null}')`,
    );
    await run(`SELECT graph.refresh_access(ARRAY['${id(10)}']::uuid[])`);
    await run('COMMIT');
  });
}

/** Count and digest of each table, computed columns included, transaction numbers left out. */
export async function fingerprint(url: string): Promise<Record<string, string>> {
  return withClient(url, async (client) => {
    await client.query(`SET TimeZone = 'UTC'`);
    const digests: Record<string, string> = {};
    for (const { table } of await readTables(client)) {
      const { rows } = await client.query<{ digest: string }>(`
        SELECT count(*) || ':' || md5(coalesce(string_agg(text, E'\\n' ORDER BY text COLLATE "C"), '')) AS digest
        FROM (SELECT (to_jsonb(t) - 'xid')::text AS text FROM ${table} t) x`);
      digests[table] = rows[0]?.digest ?? '';
    }
    return digests;
  });
}
