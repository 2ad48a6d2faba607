import { Controller } from '@nestjs/common';
import {
  addDataSource,
  addTool,
  type ParsedInputOf,
  type ReplyOf,
  removeDataSource,
  removeTool,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { addLink, removeLink } from './link-changes.js';

/** Data sources and tools of projects, processes and areas. */
@Controller()
export class LinkHandlers {
  constructor(private readonly database: Database) {}

  @Handles(addDataSource)
  addDataSource(
    input: ParsedInputOf<typeof addDataSource>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof addDataSource>> {
    return runCommand(this.database, context, (tx) => addLink(tx, 'data_source', input));
  }

  @Handles(removeDataSource)
  removeDataSource(
    input: ParsedInputOf<typeof removeDataSource>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof removeDataSource>> {
    const link = { id: input.data_source_id, expectedVersion: input.expected_version };
    return runCommand(this.database, context, (tx) => removeLink(tx, 'data_source', link));
  }

  @Handles(addTool)
  addTool(input: ParsedInputOf<typeof addTool>, context: OperationContext): Promise<ReplyOf<typeof addTool>> {
    return runCommand(this.database, context, (tx) => addLink(tx, 'tool', input));
  }

  @Handles(removeTool)
  removeTool(input: ParsedInputOf<typeof removeTool>, context: OperationContext): Promise<ReplyOf<typeof removeTool>> {
    const link = { id: input.tool_id, expectedVersion: input.expected_version };
    return runCommand(this.database, context, (tx) => removeLink(tx, 'tool', link));
  }
}
