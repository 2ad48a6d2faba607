import type { NodeType } from '@workspace-graph/contracts';
import { statement, type Transaction } from '@workspace-graph/database';

interface Keyed {
  readonly id: string;
  readonly key: string | null;
}

interface ExistingActor extends Keyed {
  readonly user_id: string | null;
}

interface ExistingGroup extends Keyed {
  readonly claim: string | null;
}

interface ExistingEvent extends Keyed {
  readonly node_id: string;
  readonly supersedes_id: string | null;
}

export interface ExistingFile {
  readonly id: string;
  readonly node_id: string;
  readonly path: string;
}

export interface ExistingNode extends Keyed {
  readonly type: NodeType;
  readonly organization_id: string | null;
  readonly sync_key: string;
}

/** What the workspace holds already, as far as a document can refer to it. */
export interface Existing {
  readonly users: readonly Keyed[];
  readonly groups: readonly ExistingGroup[];
  readonly actors: readonly ExistingActor[];
  readonly nodes: readonly ExistingNode[];
  readonly events: readonly ExistingEvent[];
  /** Empty for a document without files. */
  readonly files: readonly ExistingFile[];
  /** Child and parent of each belongs_to between non-organizations. */
  readonly parents: readonly (readonly [child: string, parent: string])[];
}

/** Reads the index of the workspace in one query; that of the files only for a document that has some. */
export async function readExisting(tx: Transaction, withFiles: boolean): Promise<Existing> {
  const row = await tx.row<{ existing: Existing }>(EXISTING, [withFiles]);
  if (!row) throw new Error('The index of the workspace is missing');
  return row.existing;
}

const EXISTING = statement(
  'transfer.existing',
  `
  SELECT json_build_object(
    'users', coalesce((SELECT json_agg(json_build_object('id', id, 'key', external_id)) FROM identity."user"), '[]'),
    'groups', coalesce((SELECT json_agg(json_build_object('id', id, 'key', name_folded, 'claim', claim)) FROM identity.user_group), '[]'),
    'actors', coalesce((SELECT json_agg(json_build_object('id', id, 'key', import_key, 'user_id', user_id)) FROM graph.actor), '[]'),
    'nodes', coalesce((SELECT json_agg(json_build_object('id', id, 'key', import_key, 'type', type, 'organization_id', organization_id, 'sync_key', sync_key)) FROM graph.node), '[]'),
    'events', coalesce((SELECT json_agg(json_build_object('id', id, 'key', import_key, 'node_id', node_id, 'supersedes_id', supersedes_id)) FROM graph.event), '[]'),
    'files', coalesce((SELECT json_agg(json_build_object('id', id, 'node_id', node_id, 'path', path)) FROM file.record WHERE $1::boolean), '[]'),
    'parents', coalesce((SELECT json_agg(json_build_array(e.source_id, e.target_id)) FROM graph.edge e JOIN graph.node t ON t.id = e.target_id
      WHERE e.relation = 'belongs_to' AND t.type <> 'organization'), '[]')) AS existing`,
);
