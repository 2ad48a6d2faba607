import { setImmediate as others } from 'node:timers/promises';
import type { StatementRunner } from '@workspace-graph/database';
import { DocumentReader } from './document-reader.js';
import { ImportProgress } from './import-progress.js';
import { readRecord } from './record-reader.js';
import { Staging } from './staging.js';

/** A document whose records are in temporary tables. */
export interface StagedDocument {
  readonly source: string | null;
  /** Problems of records by themselves and of the document, of which the first are in the tables too. */
  readonly issueCount: number;
}

/**
 * Puts a document into temporary tables, in pieces and so that other calls have their turn in between.
 * @throws ServiceError VALIDATION_FAILED where it cannot be read any further; the signal's reason
 */
export async function stageDocument(
  runner: StatementRunner,
  { bytes, sizeBytes }: { readonly bytes: AsyncIterable<Uint8Array>; readonly sizeBytes: number },
  signal: AbortSignal,
): Promise<StagedDocument> {
  const [staging, reader, progress] = [new Staging(runner), new DocumentReader(), new ImportProgress(runner)];
  let readBytes = 0;
  await staging.create();
  for await (const chunk of bytes) {
    signal.throwIfAborted();
    for (const record of reader.push(chunk)) staging.add(readRecord(record));
    readBytes += chunk.byteLength;
    await progress.report('reading', readBytes, sizeBytes);
    if (staging.isFull) await staging.flush();
    else await others();
  }
  const { source, issues } = reader.end();
  staging.addOfDocument(issues);
  await staging.flush();
  return { source, issueCount: staging.issueCount };
}
