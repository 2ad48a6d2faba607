import { Controller } from '@nestjs/common';
import { type OutputOf, type ParsedInputOf, type RawJson, undoSession } from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { undo } from './undo-session.js';

/** Takes back what sessions changed. */
@Controller()
export class UndoHandlers {
  constructor(private readonly database: Database) {}

  @Handles(undoSession)
  undo(
    input: ParsedInputOf<typeof undoSession>,
    context: OperationContext,
  ): Promise<OutputOf<typeof undoSession> | RawJson> {
    return runCommand(this.database, context, (tx) => undo(tx, input), { timeoutMs: undoSession.timeoutMs });
  }
}
