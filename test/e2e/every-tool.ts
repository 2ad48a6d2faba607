type Input = Readonly<Record<string, unknown>>;
type Result = Readonly<Record<string, unknown>>;

/** Calls a tool that must be carried out. */
export type CallTool = (name: string, input: Input) => Promise<Result>;

const idOf = (record: unknown): string => (record as { id: string }).id;

/** Makes a small organization with every tool that makes and keeps a node; answers the id of an area in it. */
export async function useNodeTools(call: CallTool, name: string): Promise<string> {
  const organization = idOf(await call('svc_create_node', { type: 'organization', name }));
  const other = idOf(await call('svc_create_node', { type: 'organization', name: `${name}, elsewhere` }));
  const make = async (type: string): Promise<string> =>
    idOf(await call('svc_create_node', { type, name: `${name}: ${type}`, organization_id: organization }));
  const [area, project, process] = [await make('area'), await make('project'), await make('process')];
  await call('svc_update_node', { node_id: project, health: 'at_risk', health_note: 'late' });
  await call('svc_archive_node', { node_id: process });
  await call('svc_restore_node', { node_id: process });
  await call('svc_move_node', { node_id: process, organization_id: other, confirmed: true });
  await call('svc_purge_node', { node_id: process });
  await call('svc_purge_node', { node_id: process, confirmed: true });
  const { edge } = await call('svc_connect', { source_id: project, target_id: area, relation: 'belongs_to' });
  await call('svc_list_edges', { node_id: area });
  await call('svc_disconnect', { edge_id: idOf(edge) });
  await call('svc_get_node', { node_id: area });
  await call('svc_list_nodes', { scope: 'global', query: name });
  return area;
}

/** What a node carries, and who answers for it. */
export async function usePartTools(call: CallTool, area: string): Promise<void> {
  const [person, automation] = [
    await call('svc_create_actor', { type: 'person', name: 'Petra Placeholder' }),
    await call('svc_create_actor', { type: 'automation', name: 'Nightly job' }),
  ];
  await call('svc_update_actor', { actor_id: idOf(person), name: 'Petra P.' });
  await call('svc_list_actors', { query: 'petra' });
  await call('svc_get_actor', { actor_id: idOf(person) });
  const duties: string[] = [];
  for (const title of ['First', 'Second'])
    duties.push(idOf(await call('svc_add_responsibility', { node_id: area, title, assignee_ids: [idOf(person)] })));
  await call('svc_list_duties', { actor_id: idOf(person) });
  await call('svc_reorder_responsibilities', { node_id: area, responsibility_ids: duties.toReversed() });
  await call('svc_update_responsibility', { responsibility_id: duties[0], assignee_ids: [idOf(automation)] });
  for (const responsibility_id of duties) await call('svc_remove_responsibility', { responsibility_id });
  await call('svc_delete_actor', { actor_id: idOf(person) });
  await call('svc_delete_actor', { actor_id: idOf(automation) });
  const link = { node_id: area, name: 'Sheet', url: 'https://example.org/sheet' };
  await call('svc_remove_data_source', { data_source_id: idOf(await call('svc_add_data_source', link)) });
  await call('svc_remove_tool', { tool_id: idOf(await call('svc_add_tool', link)) });
}

/** The timeline, and everything that reads. */
export async function useReadingTools(call: CallTool, area: string): Promise<void> {
  const event_id = idOf(await call('svc_log', { node_id: area, kind: 'decision', content: 'We take the first' }));
  await call('svc_edit_event', { event_id, content: 'We take the first one' });
  await call('svc_resolve_event', { event_id, resolution: 'taken' });
  const newer = idOf(await call('svc_supersede_event', { event_id, content: 'We take the second' }));
  await call('svc_archive_event', { event_id: newer });
  await call('svc_list_events', { node_id: area });
  await call('svc_get_event', { event_id: newer });
  await call('svc_search', { query: 'second' });
  await call('svc_get_context', { node_id: area, depth: 2 });
  await call('svc_get_overview', {});
  await call('svc_set_positions', { positions: [{ node_id: area, x: 1, y: 2 }] });
  await call('svc_list_audit', { target_id: area });
  await call('svc_list_audit', { node_id: area, about: 'event' });
  await call('svc_whoami', {});
}

/** The agent's own session. */
export async function useSessionTools(call: CallTool, node_id: string): Promise<void> {
  const { session } = await call('svc_session_init', { node_id });
  const session_id = idOf(session);
  await call('svc_list_sessions', { own: true });
  await call('svc_get_session', { session_id });
  await call('svc_list_session_events', { session_id, newest: true });
  await call('svc_undo_session', { session_id });
  await call('svc_expand_scope', { node_ids: [node_id], access: 'write', reason: 'To go on with the area' });
  await call('svc_session_log', { kind: 'handoff', title: 'Begun', text: 'The first is taken.' });
}

/** Finding people, and groups: `group` is the name of one. */
export async function usePeopleTools(call: CallTool, group: string): Promise<void> {
  await call('svc_list_users', { query: 'a' });
  await call('svc_list_groups', { query: group });
  await call('svc_list_group_members', { group_id: group });
}

/** The folder of a node, and its files. */
export async function useFileTools(call: CallTool, node_id: string): Promise<void> {
  const { local_path: folder } = await call('svc_mirror', { node_id, targets: ['local'] });
  await call('svc_move_mirror', { node_id, path: `${String(folder)}-moved` });
  await call('svc_list_mirrors', {});
  const path = 'wip/drafts/plan.md';
  const made = await call('svc_create_file', {
    node_id,
    filename: 'plan.md',
    subpath: 'drafts',
    content: 'A first plan',
  });
  const { sha256 } = await call('svc_read_file', { node_id, path });
  await call('svc_write_file', { node_id, path, content: 'A second plan', expected_sha256: sha256 });
  await call('svc_list_files', { node_id });
  await call('svc_search_files', { node_id, query: 'plan' });
  const rename = { node_id, old_prefix: 'wip/drafts', new_prefix: 'wip/letters' };
  await call('svc_rename_folder', rename);
  await call('svc_rename_folder', { ...rename, dry_run: false });
  const move = { file_id: idOf(made), new_section: 'outputs', new_subpath: null };
  await call('svc_move_file', move);
  await call('svc_move_file', { ...move, confirmed: true });
  await call('svc_delete_file', { file_id: idOf(made) });
  const { trash_id } = await call('svc_delete_file', { file_id: idOf(made), confirmed: true });
  await call('svc_list_trash', { node_id });
  await call('svc_restore_trash', { trash_id });
  await call('svc_adopt_files', { node_id, paths: ['wip/nothing.md'] });
  await call('svc_status', { node_id });
  await call('svc_sync_health', {});
  await call('svc_list_remotes', {});
  await call('svc_remove_mirror', { node_id });
}

/** What a local workspace refuses: tools for its remote storage, which it has not. */
export function remoteTools(node_id: string): readonly (readonly [tool: string, input: Input])[] {
  return [
    ['svc_setup_remote', { name: 'store', type: 'objstore', config: {} }],
    ['svc_set_routing_policy', { rules: [] }],
    ['svc_store', { node_id, local_path: '/nowhere' }],
    ['svc_pull', { node_id }],
    ['svc_snapshot', { node_id, doc_url: 'https://docs.example.org/d/1' }],
  ];
}

/** Sharing, and asking for access: `asker` calls as somebody who is shut out. */
export async function useAccessTools(call: CallTool, area: string, asker: CallTool): Promise<void> {
  await call('svc_set_access', { node_id: area, visibility: 'private' });
  await call('svc_get_access', { node_id: area });
  await call('svc_explain_access', { node_id: area });
  const ask = async (): Promise<string> => idOf(await asker('svc_request_access', { node_id: area }));
  await asker('svc_withdraw_access_request', { access_request_id: await ask() });
  await call('svc_refuse_access_request', { access_request_id: await ask() });
  await call('svc_approve_access_request', { access_request_id: await ask(), confirmed: true });
  await call('svc_list_access_requests', { mine: false });
  await asker('svc_get_node', { node_id: area });
}
