import { Controller } from '@nestjs/common';
import { listImports, type ParsedInputOf, putImportPart, RawJson, runImport } from '@workspace-graph/contracts';
import {
  Database,
  runPreparedCommand,
  type StatementRunner,
  statement,
  type Transaction,
} from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { applyDocument } from './apply-document.js';
import { LIST_PROGRESS } from './import-progress.js';
import { type StagedDocument, stageDocument } from './stage-document.js';
import { Upload } from './upload.js';

const IMPORT_TIMEOUT_MS = 590_000;

/**
 * Takes documents in: parts first, then the records one by one into temporary tables, then one transaction that looks
 * at all of them before it writes anything. Parts are kept for an hour, so that a call whose answer was lost can be
 * repeated.
 */
@Controller()
export class ImportHandlers {
  /** The import that came last: the next one waits for it, so that all together hold no more than one. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly database: Database) {}

  @Handles(putImportPart)
  async putPart(input: ParsedInputOf<typeof putImportPart>, context: OperationContext) {
    await this.database.rows(PUT_PART, [
      input.upload_id,
      input.index,
      context.caller.user_id,
      Buffer.from(input.data, 'base64'),
    ]);
    return { done: true as const };
  }

  @Handles(listImports)
  async list(): Promise<RawJson> {
    return (await this.database.json(LIST_PROGRESS)) ?? new RawJson('{"items":[]}');
  }

  @Handles(runImport)
  run(input: ParsedInputOf<typeof runImport>, context: OperationContext) {
    const mine = this.last.then(() => this.runNow(input, context));
    this.last = mine.catch(() => undefined);
    return mine;
  }

  private async runNow(input: ParsedInputOf<typeof runImport>, context: OperationContext) {
    const { upload_id, parts, dry_run, confirmed } = input;
    const { signal, caller } = context;
    signal.throwIfAborted();
    const { document, sizeBytes } = await new Upload(this.database, upload_id, caller.user_id, parts).digest(signal);
    // What is asked is the document, by whichever upload it came.
    const asked = { ...context, input: { document, dry_run, confirmed } };
    const work = {
      prepare: (runner: StatementRunner) =>
        stageDocument(
          runner,
          { bytes: new Upload(runner, upload_id, caller.user_id, parts).bytes(), sizeBytes },
          signal,
        ),
      change: (tx: Transaction, staged: StagedDocument) => applyDocument(tx, staged, { dryRun: dry_run, confirmed }),
    };
    return runPreparedCommand(this.database, asked, work, IMPORT_TIMEOUT_MS);
  }
}

const PUT_PART = statement(
  'import.put_part',
  `
  INSERT INTO graph.import_part (upload_id, index, user_id, data) VALUES ($1, $2, $3, $4)
  ON CONFLICT (upload_id, index) DO UPDATE SET data = excluded.data WHERE graph.import_part.user_id = excluded.user_id`,
);
