import { Controller } from '@nestjs/common';
import { applyFileChanges, type ParsedInputOf, type ReplyOf } from '@workspace-graph/contracts';
import { Database, runCommand, type Transaction } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { applyChanges } from './apply-changes.js';
import { MovedObjects } from './moved-objects.js';

/** Changing records of files. */
@Controller()
export class ChangeHandlers {
  constructor(
    private readonly database: Database,
    private readonly moved: MovedObjects,
  ) {}

  @Handles(applyFileChanges)
  async apply(
    input: ParsedInputOf<typeof applyFileChanges>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof applyFileChanges>> {
    let isNoted = false;
    const work = async (tx: Transaction) => {
      const output = await applyChanges(tx, input);
      isNoted = await this.moved.note(tx, input, output);
      return output;
    };
    const { timeoutMs } = applyFileChanges;
    // A device that did not hear how a scan's changes ended reads the records: half a megabyte for each would be kept for nobody.
    const keepReply = input.strict || context.caller.via !== 'sync';
    const reply = await runCommand(this.database, context, work, { timeoutMs, keepReply });
    if (isNoted) this.moved.tell();
    return reply;
  }
}
