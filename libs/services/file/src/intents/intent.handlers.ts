import { Controller } from '@nestjs/common';
import {
  listFileIntents,
  noteFileIntents,
  type ParsedInputOf,
  type RawJson,
  type ReplyOf,
  settleFileIntents,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { deviceOf, seenBy } from '../shared/caller.js';
import { LIST_INTENTS, SETTLE_INTENTS } from './intent.statements.js';
import { noteIntents } from './note-intents.js';

/** What is about to happen to files. Intents are no changes: the audit trail and the events tell of what comes of them. */
@Controller()
export class IntentHandlers {
  constructor(private readonly database: Database) {}

  @Handles(noteFileIntents)
  note(
    input: ParsedInputOf<typeof noteFileIntents>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof noteFileIntents>> {
    return runCommand(this.database, context, (tx) => noteIntents(tx, input));
  }

  @Handles(settleFileIntents)
  settle(
    { outcomes }: ParsedInputOf<typeof settleFileIntents>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof settleFileIntents>> {
    return runCommand(this.database, context, async (tx) => {
      await tx.execute(SETTLE_INTENTS, [
        ...seenBy(context.caller),
        deviceOf(context.caller),
        outcomes.map(({ id }) => id),
        outcomes.map(({ error }) => error),
      ]);
      return { done: true as const };
    });
  }

  @Handles(listFileIntents)
  async list(input: ParsedInputOf<typeof listFileIntents>, { caller }: OperationContext): Promise<RawJson> {
    const intents = await this.database.json(LIST_INTENTS, [...seenBy(caller), deviceOf(caller), input.node_ids]);
    if (!intents) throw new Error('Intents are returned in one row');
    return intents;
  }
}
