import { Controller } from '@nestjs/common';
import { getContext, type ParsedInputOf, RawJson, Relation, validationFailed } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { CONTEXT, type ContextRow } from './context.statements.js';
import { packContext } from './pack-context.js';

/** Tokens of a short line of the outline, and of a short record, which holds two UUIDs. */
const LINE_TOKENS = 12;
const RECORD_TOKENS = 90;
/** Nodes looked at in any case, so that the answer can tell how many there are, and at most. */
const LEAST_NODES = 500;
const MOST_NODES = 1_500;
/** Bytes that a token stands for at most: more than that of a text is never needed. */
const BYTES_PER_TOKEN = 6;
/** Bytes of the record from which a line is made. */
const RECORD_BYTES = 400;

/** A node with what lies around it. */
@Controller()
export class ContextHandlers {
  constructor(private readonly database: Database) {}

  /**
   * Answers a node with its surroundings within max_tokens.
   * @throws ServiceError NODE_NOT_FOUND; VALIDATION_FAILED without node_id on a connection that has no home node
   */
  @Handles(getContext)
  async get(input: ParsedInputOf<typeof getContext>, { caller }: OperationContext): Promise<RawJson> {
    const nodeId = input.node_id ?? caller.home_node_id ?? undefined;
    if (nodeId === undefined)
      throw validationFailed([
        { path: 'node_id', message: 'is required: this session has no home node; svc_session_init gives it one' },
      ]);
    const statement = CONTEXT[input.depth];
    if (!statement) throw new Error(`There is no statement for depth ${input.depth}`);
    const relations = Relation.options.filter((relation) => input.relation?.includes(relation) ?? true);
    const form = input.form ?? (caller.via === 'mcp' ? 'lines' : 'records');
    const records = form === 'records';
    const mostLines = Math.ceil(input.max_tokens / (records ? RECORD_TOKENS : LINE_TOKENS));
    const rows = await this.database.rows<ContextRow>(statement, [
      ...seenBy(caller),
      nodeId,
      mostLines * RECORD_BYTES,
      relations,
      input.include_archived,
      Math.min(MOST_NODES, Math.max(LEAST_NODES, mostLines)),
      mostLines,
      input.max_tokens * BYTES_PER_TOKEN,
      caller.session_id ?? null,
    ]);
    if (rows[0]?.json == null) throw nodeNotFound(nodeId);
    return new RawJson(
      packContext(rows, { depth: input.depth, maxTokens: input.max_tokens, records, nodeId, via: caller.via }),
    );
  }
}
