/**
 * Who owns which schema of PostgreSQL, what each publishes to the others, and who reads or writes past that.
 * `npm run boundaries` holds every SQL text to it (tools/table-boundaries.mjs).
 */
export default {
  /** The schema, and the folder whose code alone uses its tables. */
  owners: {
    identity: 'libs/services/identity',
    graph: 'libs/services/graph',
    file: 'libs/services/file',
    session: 'libs/services/session',
    audit: 'libs/database',
    outbox: 'libs/database',
  },

  /** Views and functions of an owner that everybody may use. */
  published: [
    // Forms of values.
    'graph.fold',
    'graph.iso',
    // Who may see what.
    'graph.visible_node',
    'graph.user_access_set',
    'graph.access_level',
    // A change that moves access.
    'graph.hold_access',
    'graph.lock_access',
    'graph.record_access',
    'graph.refresh_access',
    'graph.refresh_grants',
    'graph.end_access_record',
    // Nodes.
    'graph.lock_nodes',
    'graph.node_place',
    'graph.node_and_neighbours',
    'graph.shared_with_group',
    'graph.prune_import_parts',
    'identity.known_user',
    'identity.known_group',
    'identity.member',
    'audit.trail',
    'audit.node_trail',
    'file.node_file',
    'file.named_file',
    'file.stuck_operation',
    'file.status_of',
    'file.node_folder',
    'file.leaves_folders',
    'file.was_folder_of_other',
    'session.count_of_node',
    'session.unarchived_of_node',
    'session.recent_of_node',
    'session.open_session',
    'session.seen_session',
    'session.named_session',
    'session.unreviewed',
    'session.recent_write',
    // What belongs to which nodes, and what a session reaches of them.
    'graph.nodes_of',
    'graph.is_joined',
    'file.nodes_of',
    'session.scope_nodes',
    'session.holds',
    'session.holds_to_write',
    'session.out_of_scope',
    'session.record_change',
  ],

  /** `in`: a folder, a file, or a function of the database. */
  exemptions: [
    {
      in: 'libs/services/graph/src/transfer/',
      uses: [
        'identity.user',
        'identity.user_group',
        'identity.membership',
        'file.record',
        'audit.entry',
        'audit.concern',
        'audit.about',
        'audit.record_concerns',
        'outbox.event',
      ],
      reason:
        'A document holds the records of every owner, and is imported in one transaction and exported in one statement.',
    },
    {
      in: 'libs/database/src/access-change.statements.ts',
      uses: ['graph.node', 'graph.access_set', 'graph.access_set_gate', 'graph.gate_grant'],
      reason:
        'Changes of graph and of identity move access and show the same preview, and neither service may import the other.',
    },
    {
      in: 'graph.user_access_set',
      uses: ['identity.membership'],
      reason: 'Part of every read, and of the first migration: it reads what identity.member shows.',
    },
    {
      in: 'graph.access_level',
      uses: ['identity.membership'],
      reason: 'As graph.user_access_set.',
    },
    {
      in: 'audit.record_concerns',
      uses: ['graph.event', 'graph.access_request', 'file.record', 'session.session'],
      reason:
        'Lines of the audit trail that were written elsewhere leave out the node of what they are about; its record may know it.',
    },
    {
      in: 'file.bury_files_of_node',
      uses: ['graph.node'],
      reason: 'A trigger of the deletion of a node: it runs in the statement of graph, with the rows of graph.',
    },
  ],
};
