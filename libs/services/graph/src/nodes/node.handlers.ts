import { Controller } from '@nestjs/common';
import {
  archiveNode,
  createNode,
  getNode,
  listNodes,
  moveNode,
  type OutputOf,
  type ParsedInputOf,
  purgeNode,
  type RawJson,
  restoreNode,
  suggestNodes,
  updateNode,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { archive, restore } from './archive-node.js';
import { create } from './create-node.js';
import { list } from './list-nodes.js';
import { move } from './move-node.js';
import { NODE_DETAIL } from './node.statements.js';
import { purge } from './purge-node.js';
import { FIRST_NODES, SUGGEST_NODES } from './suggest-nodes.statement.js';
import { update } from './update-node.js';

/** Reading and changing nodes. */
@Controller()
export class NodeHandlers {
  constructor(private readonly database: Database) {}

  @Handles(getNode, { besideScope: true })
  async get(input: ParsedInputOf<typeof getNode>, { caller }: OperationContext): Promise<RawJson> {
    const node = await this.database.json(NODE_DETAIL, [...seenBy(caller), input.node_id]);
    if (!node) throw nodeNotFound(input.node_id);
    return node;
  }

  @Handles(listNodes)
  list(input: ParsedInputOf<typeof listNodes>, { caller }: OperationContext): Promise<RawJson> {
    return list(this.database, input, caller);
  }

  @Handles(suggestNodes)
  async suggest(input: ParsedInputOf<typeof suggestNodes>, { caller }: OperationContext): Promise<RawJson> {
    const text = input.text.trim();
    const answer =
      text === ''
        ? await this.database.json(FIRST_NODES, [...seenBy(caller), input.limit])
        : await this.database.json(SUGGEST_NODES, [...seenBy(caller), text, input.limit]);
    if (!answer) throw new Error('Suggestions return one row');
    return answer;
  }

  @Handles(createNode)
  create(input: ParsedInputOf<typeof createNode>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => create(tx, input));
  }

  @Handles(updateNode, { besideScope: true })
  update(input: ParsedInputOf<typeof updateNode>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => update(tx, input));
  }

  @Handles(archiveNode)
  archive(input: ParsedInputOf<typeof archiveNode>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => archive(tx, input));
  }

  @Handles(restoreNode)
  restore(input: ParsedInputOf<typeof restoreNode>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => restore(tx, input));
  }

  @Handles(purgeNode)
  purge(
    input: ParsedInputOf<typeof purgeNode>,
    context: OperationContext,
  ): Promise<OutputOf<typeof purgeNode> | RawJson> {
    return runCommand(this.database, context, (tx) => purge(tx, input));
  }

  @Handles(moveNode)
  move(input: ParsedInputOf<typeof moveNode>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => move(tx, input));
  }
}
