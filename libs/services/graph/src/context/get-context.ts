import {
  type Caller,
  LIMITS,
  type getContext as operation,
  type ParsedInputOf,
  RawJson,
  Relation,
  validationFailed,
} from '@workspace-graph/contracts';
import type { Database } from '@workspace-graph/database';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { CONTEXT, type ContextRow } from './context.statements.js';
import { packContext } from './pack-context.js';

/** Bytes of a short line of the outline; more nodes than that allows are never shown. */
const LINE_BYTES = 230;
const MOST_NODES = 1_500;

/**
 * Answers a node with its surroundings within max_tokens.
 * @throws ServiceError NODE_NOT_FOUND; VALIDATION_FAILED without node_id on a connection that has no home node
 */
export async function getContext(
  database: Database,
  input: ParsedInputOf<typeof operation>,
  caller: Caller,
): Promise<RawJson> {
  const nodeId = input.node_id ?? caller.home_node_id ?? undefined;
  if (nodeId === undefined)
    throw validationFailed([{ path: 'node_id', message: 'is needed: this connection has no home node' }]);
  const statement = CONTEXT[input.depth];
  if (!statement) throw new Error(`No statement for depth ${input.depth}`);
  const mostBytes = input.max_tokens * LIMITS.bytesPerToken;
  const relations = Relation.options.filter((relation) => input.relation?.includes(relation) ?? true);
  const mostNodes = Math.min(MOST_NODES, Math.ceil(mostBytes / LINE_BYTES));
  const rows = await database.rows<ContextRow>(statement, [
    ...seenBy(caller),
    nodeId,
    mostBytes,
    relations,
    input.include_archived,
    mostNodes,
  ]);
  if (rows[0]?.json == null) throw nodeNotFound(nodeId);
  return new RawJson(packContext({ nodeId, depth: input.depth, maxTokens: input.max_tokens, rows }));
}
