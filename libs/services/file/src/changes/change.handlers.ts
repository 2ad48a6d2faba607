import { Controller } from '@nestjs/common';
import { applyFileChanges, type ParsedInputOf, type ReplyOf } from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { applyChanges } from './apply-changes.js';

/** Changing records of files. */
@Controller()
export class ChangeHandlers {
  constructor(private readonly database: Database) {}

  @Handles(applyFileChanges)
  apply(
    input: ParsedInputOf<typeof applyFileChanges>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof applyFileChanges>> {
    return runCommand(this.database, context, (tx) => applyChanges(tx, input), {
      timeoutMs: applyFileChanges.timeoutMs,
      // Whoever did not hear how a scan's changes ended reads the records: half a megabyte for each would be kept for nobody.
      keepReply: input.strict,
    });
  }
}
