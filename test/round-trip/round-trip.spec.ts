import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  addDataSource,
  addResponsibility,
  addTool,
  applyFileChanges,
  approveAccessRequest,
  archiveEvent,
  archiveNode,
  authenticate,
  type Caller,
  changeGroupMembers,
  connect,
  createActor,
  createGroup,
  createNode,
  createUser,
  exportGraph,
  type FileChange,
  type InputOf,
  logEvent,
  type Operation,
  type OutputOf,
  purgeNode,
  putImportPart,
  refuseAccessRequest,
  requestAccess,
  resolveEvent,
  runImport,
  setAccess,
  setPositions,
  supersedeEvent,
  updateNode,
  updateUser,
  withdrawAccessRequest,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { FileModule } from '@workspace-graph/service-file';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';

/** Text that is easily lost: marks, joiners, both directions, line ends, quotes, what looks like an escape. */
const ODD = 'Žluťoučký 👩‍👩‍👧‍👦 e\u0301 \u202eabc\u202c \u2028 "\\u0041" \\ \r\n\t \u{10ffff} ﷺ';
const ODD_NAME = ODD.replace(/[\r\n\t]/g, '');

/** What a document carries: everything but credentials, what is on its way, and numbers of transactions. */
const CARRIED: Readonly<Record<string, string>> = {
  'identity.user': `SELECT to_jsonb(t) - '{claimed_at}'::text[] FROM identity."user" t WHERE t.name <> 'Importer'`,
  'identity.user_group': 'SELECT to_jsonb(t) FROM identity.user_group t',
  'identity.membership': 'SELECT to_jsonb(t) FROM identity.membership t',
  'file.record': 'SELECT to_jsonb(t) FROM file.record t',
  'graph.actor': 'SELECT to_jsonb(t) FROM graph.actor t',
  'graph.node': `SELECT to_jsonb(t) - '{access_set_id}'::text[] || jsonb_build_object('gates', s.gates) FROM graph.node t LEFT JOIN graph.access_set s ON s.id = t.access_set_id`,
  'graph.edge': 'SELECT to_jsonb(t) FROM graph.edge t',
  'graph.responsibility': 'SELECT to_jsonb(t) FROM graph.responsibility t',
  'graph.responsibility_assignee': 'SELECT to_jsonb(t) FROM graph.responsibility_assignee t',
  'graph.link': 'SELECT to_jsonb(t) FROM graph.link t',
  'graph.position': 'SELECT to_jsonb(t) FROM graph.position t',
  'graph.event': 'SELECT to_jsonb(t) FROM graph.event t',
  'graph.share': 'SELECT to_jsonb(t) FROM graph.share t',
  'graph.gate_grant': 'SELECT to_jsonb(t) FROM graph.gate_grant t',
  'graph.access_request': 'SELECT to_jsonb(t) FROM graph.access_request t',
  'audit.entry': `SELECT to_jsonb(t) - '{xid}'::text[] FROM audit.entry t WHERE NOT (t.action = 'run_import' AND t.target_kind = 'workspace')`,
  // Worked out anew from what the document holds.
  'audit.concern': 'SELECT to_jsonb(t) FROM audit.concern t',
};
const NOT_CARRIED = [
  'file.left_folder',
  'graph.access_set',
  'graph.access_set_gate',
  'file.pending_op',
  'file.remote',
  'file.remote_root',
  'file.routing_rule',
  'file.tombstone',
  'file.upload',
  'graph.import_part',
  'identity.device',
  'identity.device_invitation',
  'identity.bootstrap',
  'identity.token',
  'outbox.applied_call',
  'outbox.event',
];

let from: ServiceHarness;
let to: ServiceHarness;
let admin: Caller;
beforeAll(async () => {
  from = await startServices([GraphModule, IdentityModule, FileModule]);
  to = await startServices([GraphModule, IdentityModule, FileModule]);
  admin = await from.user('Admin', 'manage');
  await fill();
});
afterAll(async () => {
  await from.close();
  await to.close();
});

const as = <Op extends Operation>(operation: Op, input: InputOf<Op>, caller: Caller = admin): Promise<OutputOf<Op>> =>
  from.call(operation, input, caller);
type NodeInput = InputOf<typeof createNode>;
const node = async (type: NodeInput['type'], name: string, more: Partial<NodeInput> = {}): Promise<string> =>
  (await as(createNode, { type, name, ...more })).id;
const user = async (name: string, more: Partial<InputOf<typeof createUser>> = {}): Promise<Caller> => {
  const { id } = await as(createUser, { name, ...more });
  return { user_id: id, scope: 'write', credential_id: null, via: 'rest' };
};

/** A workspace in which every feature was used. */
async function fill(): Promise<void> {
  const [ann, bob, gone] = [await user('Ann'), await user('Bob', { max_scope: 'read' }), await user('Gone')];
  await as(updateUser, { user_id: gone.user_id, disabled: true });
  const claimed = await as(createGroup, { name: ODD_NAME, claim: 'staff' });
  const group = await as(createGroup, { name: 'By hand' });
  await as(authenticate, {
    credential: {
      kind: 'oidc',
      issuer: 'https://id.example',
      subject: 'eve',
      name: 'Eve',
      groups: ['staff'],
      scope: 'write',
      issued_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + 60_000).toISOString(),
    },
  });
  await as(changeGroupMembers, { group_id: group.id, add: [ann.user_id, gone.user_id], confirmed: true });
  const person = (await as(createActor, { type: 'person', name: ODD_NAME, user_id: ann.user_id })).id;
  const placeholder = (await as(createActor, { type: 'person', name: 'Nobody yet' })).id;
  const robot = (await as(createActor, { type: 'automation', name: 'Robot' })).id;

  const acme = await node('organization', ODD_NAME, { description: ODD, goal: ODD });
  const closed = await node('organization', 'Closed', { visibility: 'group' });
  const inside = { organization_id: acme };
  const project = await node('project', 'Project', {
    ...inside,
    owner_id: person,
    health: 'at_risk',
    lifecycle: 'on_hold',
  });
  await as(updateNode, { node_id: project, health_note: ODD, description: 'x'.repeat(20_000) });
  const process = await node('process', 'Process', {
    ...inside,
    lifecycle: 'broken',
    owner_id: robot,
    visibility: 'private',
  });
  const area = await node('area', 'Area', { ...inside, visibility: 'group', parent_ids: [process] });
  const open = await node('area', 'Open', { organization_id: closed, visibility: 'everyone' });
  await node('principle', 'Both', { ...inside, parent_ids: [process, area] });
  const archived = await node('project', 'Archived', { ...inside, lifecycle: 'in_progress' });
  await as(archiveNode, { node_id: archived });
  await node('area', 'Same name', inside);
  await node('area', 'Same name', inside);
  await as(purgeNode, { node_id: await node('area', 'Purged', inside), confirmed: true });
  const recipient = (kind: 'user' | 'group', id: string, access: 'read' | 'write') => ({ kind, id, access });
  const list = [
    recipient('user', bob.user_id, 'read'),
    recipient('group', group.id, 'write'),
    recipient('group', claimed.id, 'read'),
    recipient('user', gone.user_id, 'write'),
  ];
  for (const node_id of [closed, area])
    await as(setAccess, { node_id, visibility: 'group', recipients: list, confirmed: true });

  for (const relation of ['related_to', 'applies', 'informed_by', 'belongs_to'] as const)
    await as(connect, { source_id: project, target_id: open, relation, confirmed: true });
  for (const assignee_ids of [[robot, placeholder, person], []])
    await as(addResponsibility, { node_id: project, title: ODD_NAME, description: ODD, assignee_ids });
  await as(addTool, { node_id: project, name: 'Tool', url: 'https://x.example/ž?q=%20#h' });
  await as(addTool, { node_id: project, name: 'No address' });
  await as(addDataSource, { node_id: project, name: 'Mail', url: 'mailto:a@b.example' });
  await as(setPositions, {
    positions: [
      { node_id: project, x: -0.01, y: 999_999.99 },
      { node_id: area, x: 0, y: 0 },
    ],
  });
  await events(project);
  await files(project, area, ann);
  await requests(process, ann, bob);
}

async function events(node_id: string): Promise<void> {
  const times = [
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999Z',
    '2026-05-04T10:00:00+02:00',
    '9999-12-31T23:59:59.999Z',
  ];
  const [first = '', second = '', third = ''] = await Promise.all(
    times.map(async (occurred_at) => (await as(logEvent, { node_id, kind: 'decision', content: ODD, occurred_at })).id),
  );
  const next = await as(supersedeEvent, { event_id: first, content: 'Better' });
  await as(supersedeEvent, { event_id: next.id, content: 'Best', kind: 'note' });
  await as(resolveEvent, { event_id: second, resolution: ODD });
  await as(archiveEvent, { event_id: third });
}

async function files(project: string, area: string, ann: Caller): Promise<void> {
  const content = (text: string) => ({
    sha256: createHash('sha256').update(text).digest('hex'),
    size_bytes: 9_007_199_254_740_991,
    mime_type: 'text/markdown',
    modified_at: '1969-12-31T23:59:59.999Z',
  });
  const paths = ['wip/Žluťoučký 👩‍👩‍👧‍👦 ﷺ "x".md', 'outputs/a/b/c.pdf', 'resources/moved', 'wip/gone'];
  const changes = paths.map((path) => ({ kind: 'register' as const, path, ...content(path) }));
  const device_id = newId();
  const apply = async (more: readonly FileChange[], caller: Caller = admin) => {
    const input = { node_id: project, action: 'spec', changes: [...more], strict: true };
    return (await as(applyFileChanges, input, { ...caller, device_id })).results;
  };
  const ids = (await apply(changes, ann)).map((result) => ('file' in result ? (result.file?.id ?? '') : ''));
  const [edited = '', , moved = '', gone = ''] = ids;
  await apply([
    { kind: 'update', file_id: edited, ...content('edited') },
    { kind: 'move', file_id: moved, node_id: area, path: 'wip/moved' },
    { kind: 'remove', file_id: gone, tombstone: true },
  ]);
  await from.database.pool.query(
    `UPDATE file.record SET remote_name = 'drive', current_remote_hash = 'md5:x', last_pushed_at = '2026-05-04T10:00:00.123Z', is_native_format = true WHERE id = $1`,
    [moved],
  );
  await from.database.pool.query(
    `INSERT INTO file.record (id, node_id, path, path_key, mime_type) VALUES ($1, $2, 'outputs/Doc', 'outputs/doc', 'application/x-native')`,
    [newId(), project],
  );
}

async function requests(node_id: string, ann: Caller, bob: Caller): Promise<void> {
  const ask = async (caller: Caller, id: string, access: 'read' | 'write' = 'read') =>
    (await as(requestAccess, { node_id: id, access, reason: ODD }, caller)).id;
  await as(refuseAccessRequest, { access_request_id: await ask(bob, node_id), note: ODD });
  await as(withdrawAccessRequest, { access_request_id: await ask(bob, node_id) }, bob);
  await as(approveAccessRequest, { access_request_id: await ask(ann, node_id), confirmed: true });
  await ask(ann, node_id, 'write');
  await ask(bob, newId());
}

async function bring(document: unknown): Promise<OutputOf<typeof runImport>> {
  const importer = { ...(await to.user('Importer', 'manage')) };
  const upload_id = newId();
  const data = gzipSync(JSON.stringify(document)).toString('base64');
  await to.call(putImportPart, { upload_id, index: 0, data }, importer);
  return to.call(runImport, { upload_id, parts: 1, confirmed: true }, importer);
}

const rowsOf = async ({ database }: ServiceHarness, query: string): Promise<string[]> =>
  (await database.pool.query<{ row: unknown }>(`SELECT q.row FROM (${query}) AS q(row)`)).rows
    .map(({ row }) => JSON.stringify(row))
    .sort();

describe('a workspace in which every feature was used', () => {
  it('names every table, carried or not', async () => {
    const { rows } = await from.database.pool.query<{ name: string }>(
      `SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname IN ('identity', 'graph', 'file', 'audit', 'outbox') ORDER BY 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual([...Object.keys(CARRIED), ...NOT_CARRIED].sort());
  });

  it('is the same to the row after an export and an import into an empty one, and a second import changes nothing [graph.export.round-trip] [graph.export.complete] [graph.export.files-metadata] [graph.import.idempotent-by-key]', async () => {
    const document = await from.call(exportGraph, {}, admin);
    expect(await bring(document)).toMatchObject({ applied: true, updated: {}, unchanged: {} });
    const carried = async (): Promise<Record<string, string[]>> => {
      const tables = Object.entries(CARRIED).map(async ([table, query]) => [table, await rowsOf(to, query)] as const);
      return Object.fromEntries(await Promise.all(tables));
    };
    const first = await carried();
    for (const [table, query] of Object.entries(CARRIED)) {
      const rows = await rowsOf(from, query);
      expect([table, rows.length]).not.toEqual([table, 0]);
      expect([table, first[table]]).toEqual([table, rows]);
    }
    expect(await bring(document)).toMatchObject({ applied: true, preview: null, created: {}, updated: {} });
    expect(await carried()).toEqual(first);
    const again = await to.call(exportGraph, {}, { ...admin, user_id: newId() });
    const lists = ['nodes', 'edges', 'events', 'actors', 'groups', 'files', 'access_requests'] as const;
    for (const list of lists) expect([list, again[list]]).toEqual([list, document[list]]);
  });
});
