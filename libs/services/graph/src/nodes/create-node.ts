import { createNode, type Lifecycle, type ParsedInputOf, type RawJson, ServiceError } from '@workspace-graph/contracts';
import { lockAccess, refreshAccess, shareAccessLock, type Transaction } from '@workspace-graph/database';
import { defaultLifecycle, suffixedSyncKey, syncKeyOf } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';
import { lockActors } from '../actors/actor.repository.js';
import { authorOf } from '../shared/caller.js';
import { emitGraphChanged } from '../shared/graph-changed.js';
import { lockNodes, readNode } from './node.repository.js';
import { INSERT_NODE } from './node.statements.js';
import { refuseForeignLifecycle, refuseHealthOfOthers } from './node-rules.js';

type Input = ParsedInputOf<typeof createNode>;

/** With 30^5 suffixes to draw from, more attempts than one mean a crowded name; this many mean a fault. */
const SYNC_KEY_ATTEMPTS = 20;

/** Creates a node with its memberships and its own sharing. Answers the whole node. */
export async function create(tx: Transaction, input: Input): Promise<RawJson> {
  refuseMisfits(input);
  // A node without a setting and with its organization alone above it takes that one's access over.
  const isPlain = input.visibility === null && input.parent_ids.length === 0;
  await (isPlain ? shareAccessLock(tx) : lockAccess(tx));
  await lockActors(tx, input.owner_id === null ? [] : [input.owner_id]);
  const parents = await parentsOf(tx, input);
  const id = newId();
  const lifecycle = input.lifecycle ?? defaultLifecycle(input.type);
  const syncKey = await insert(tx, input, { id, lifecycle, parents });
  if (!isPlain) await refreshAccess(tx, [id]);
  tx.audit({
    action: createNode.name,
    targetKind: 'node',
    targetId: id,
    concerns: parents,
    after: { ...input, parent_ids: parents, lifecycle, sync_key: syncKey },
  });
  tx.created(id);
  emitGraphChanged(tx, [id], createNode.name, { edges: parents.map((parent) => [id, parent]) });
  return readNode(tx, id);
}

function refuseMisfits(input: Input): void {
  const isOrganization = input.type === 'organization';
  if (isOrganization && (input.organization_id !== undefined || input.parent_ids.length > 0)) {
    throw new ServiceError(
      'ORG_INVARIANT',
      'An organization cannot belong to another node: omit organization_id and parent_ids.',
    );
  }
  if (!isOrganization && input.organization_id === undefined) {
    throw new ServiceError('ORG_INVARIANT', `organization_id: a ${input.type} belongs to exactly one organization.`);
  }
  if (input.health !== undefined) refuseHealthOfOthers(input.type, 'health');
  if (input.lifecycle !== undefined) refuseForeignLifecycle(input.type, input.lifecycle);
}

/** The organization and the further parents, each once, all of them visible. */
async function parentsOf(tx: Transaction, input: Input): Promise<string[]> {
  if (input.organization_id === undefined) return [];
  const ids = [...new Set([input.organization_id, ...input.parent_ids])];
  const found = await lockNodes(tx, ids);
  if (found.get(input.organization_id)?.type !== 'organization') {
    throw new ServiceError('ORG_INVARIANT', 'organization_id: this node is not an organization.', {
      node_id: input.organization_id,
    });
  }
  const second = ids.slice(1).find((id) => found.get(id)?.type === 'organization');
  if (second !== undefined) {
    throw new ServiceError(
      'ORG_INVARIANT',
      'parent_ids: a node belongs to exactly one organization, the one in organization_id.',
      { node_id: second },
    );
  }
  return ids;
}

interface Decided {
  readonly id: string;
  readonly lifecycle: Lifecycle;
  readonly parents: readonly string[];
}

/** Stores the node under the first free sync_key and answers that. */
async function insert(tx: Transaction, input: Input, { id, lifecycle, parents }: Decided): Promise<string> {
  const author = authorOf(tx.context.caller);
  const health = input.type === 'project' ? (input.health ?? 'on_track') : null;
  const slug = syncKeyOf(input.name, input.type);
  let syncKey = slug;
  for (let attempt = 0; attempt < SYNC_KEY_ATTEMPTS; attempt += 1) {
    const made = await tx.row(INSERT_NODE, [
      id,
      input.type,
      input.name,
      input.description,
      input.goal,
      lifecycle,
      health,
      input.health === undefined ? null : author,
      input.organization_id ?? null,
      input.owner_id,
      syncKey,
      input.visibility,
      author,
      parents.map(() => newId()),
      parents,
    ]);
    if (made) return syncKey;
    syncKey = suffixedSyncKey(slug, Math.random);
  }
  throw new Error(`No free sync_key for ${slug} after ${SYNC_KEY_ATTEMPTS} attempts`);
}
