import type { logEvent as operation, ParsedInputOf, RawJson } from '@workspace-graph/contracts';
import { type CommandContext, type Database, runCommandStatement } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { nodeIsReadOnly, nodeNotFound } from '../shared/caller.js';
import { LOG_EVENT } from './event.statements.js';

/**
 * Records an event on a node, in one statement.
 * @throws ServiceError NODE_NOT_FOUND, FORBIDDEN without write access to the node
 */
export function logEvent(
  database: Database,
  context: CommandContext,
  input: ParsedInputOf<typeof operation>,
): Promise<RawJson> {
  return runCommandStatement(database, context, LOG_EVENT, {
    values: [newId(), input.node_id, input.kind, input.content, input.occurred_at ?? null],
    refuse: (code) => (code === 'FORBIDDEN' ? nodeIsReadOnly(input.node_id) : nodeNotFound(input.node_id)),
  });
}
