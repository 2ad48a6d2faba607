import { Controller } from '@nestjs/common';
import {
  connect,
  disconnect,
  listEdges,
  type OutputOf,
  type ParsedInputOf,
  type RawJson,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { connectNodes } from './connect-nodes.js';
import { disconnectNodes } from './disconnect-nodes.js';
import { EDGE_CURSOR, EDGES_START } from './edge.cursor.js';
import { LIST_EDGES } from './edge.statements.js';

/** Joining nodes by edges. */
@Controller()
export class EdgeHandlers {
  constructor(private readonly database: Database) {}

  @Handles(listEdges, { besideScope: true })
  async list(input: ParsedInputOf<typeof listEdges>, { caller }: OperationContext): Promise<RawJson> {
    const directions = input.direction === undefined ? [0, 1] : [input.direction === 'outgoing' ? 0 : 1];
    const page = await this.database.json(LIST_EDGES, [
      ...seenBy(caller),
      input.node_id,
      directions,
      input.relation ?? null,
      ...EDGE_CURSOR.read(input.cursor, EDGES_START),
      input.limit,
    ]);
    if (!page) throw nodeNotFound(input.node_id);
    return page;
  }

  @Handles(connect)
  connect(
    input: ParsedInputOf<typeof connect>,
    context: OperationContext,
  ): Promise<OutputOf<typeof connect> | RawJson> {
    return runCommand(this.database, context, (tx) => connectNodes(tx, input));
  }

  @Handles(disconnect)
  disconnect(
    input: ParsedInputOf<typeof disconnect>,
    context: OperationContext,
  ): Promise<OutputOf<typeof disconnect> | RawJson> {
    return runCommand(this.database, context, (tx) => disconnectNodes(tx, input));
  }
}
