import { Injectable } from '@nestjs/common';
import { type deleteFile, type OutputOf, type ParsedInputOf, type RawJson } from '@workspace-graph/contracts';
import { appliedBefore, appliedOnce, type CommandContext, Database, runCommand } from '@workspace-graph/database';
import { RemoteFailure } from '@workspace-graph/remotes';
import { isDocument } from '../changes/plan-changes.js';
import type { HeldRemote } from '../remotes/remote-pool.js';
import { CentreIntents, stuckHint } from './centre-intents.js';
import { InterruptedChanges } from './interrupted-changes.js';
import { contentChanged } from './live-contents.js';
import type { RemoteObject } from './object-locks.js';
import { applyChange, isRefusal, recordSeen } from './record-changes.js';
import type { FoundFile } from './remote-file.statements.js';
import { answerFor, objectOf, RemoteFiles, storedHashOf } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';

type Input = ParsedInputOf<typeof deleteFile>;
type Output = OutputOf<typeof deleteFile>;

/** What a deletion works with. */
interface Deletion {
  readonly input: Input;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

/** Deleting files with their objects: first the object, then the record, and the intent noted before. */
@Injectable()
export class RemoteDeletes {
  private readonly intents: CentreIntents;

  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
    private readonly interrupted: InterruptedChanges,
  ) {
    this.intents = interrupted.intents;
  }

  /** @throws ServiceError FILE_NOT_FOUND, FORBIDDEN, CONFLICT, REMOTE_REFUSED, REMOTE_UNAVAILABLE */
  run(deletion: Deletion): Promise<Output | RawJson> {
    return appliedOnce(this.database, deletion.context, () => this.delete(deletion));
  }

  private async delete(deletion: Deletion): Promise<Output | RawJson> {
    const found = await this.findSettled(deletion);
    const { confirmed, mode } = deletion.input;
    if (found.file.is_native_format && mode === 'complete') throw isDocument(found.file.path);
    const object = mode === 'complete' ? objectOf(found) : null;
    if (!confirmed) return answer(found, { applied: false, object });
    if (!object) return this.removeRecord(found, deletion, { tombstone: mode === 'complete', object: null });
    const find = async () => {
      const now = await this.find(deletion);
      return { found: now, path: now.file.path, objects: [objectOf(now) ?? object] as const };
    };
    return this.objects.changeFound(
      find,
      deletion.signal,
      async (held, now, signal) =>
        (await appliedBefore(this.database, deletion.context)) ??
        (await this.deleteAt(held, now.found, { ...deletion, signal })),
    );
  }

  /** A move of the file that was cut off comes first. */
  private async findSettled(deletion: Deletion): Promise<FoundFile> {
    const found = await this.find(deletion);
    const isOther = deletion.input.confirmed && (await this.interrupted.settleMoves(found, deletion.signal));
    return isOther ? this.find(deletion) : found;
  }

  private find({ input, context }: Deletion): Promise<FoundFile> {
    const asked = { nodeId: input.node_id, version: input.expected_version };
    return this.files.changeable(input.file_id, context.caller, asked);
  }

  private async deleteAt(held: HeldRemote, found: FoundFile, deletion: Deletion): Promise<Output | RawJson> {
    const { context, signal } = deletion;
    const object = objectOf(found);
    const live = await this.objects.contents.find(held, found, signal);
    if (!live || !object) return this.removeRecord(found, deletion, { tombstone: true, object: null });
    if (live.sha256 !== storedHashOf(found)) {
      // There is no trash to find it in again. The next call knows what it deletes.
      await recordSeen(this.database, found, live);
      throw contentChanged(live, found.file);
    }
    const intent = await this.intents.note(found, object, context.caller);
    try {
      await held.remote.remove(object.path, { expected: live.entry.revision, signal });
    } catch (error) {
      if (isDecided(error)) {
        await this.intents.drop(intent);
        throw error;
      }
      await this.intents.fail(intent, error);
      return answer(found, { applied: false, object, stuck: error });
    }
    try {
      // The intent goes with the record.
      return await this.removeRecord(found, deletion, { tombstone: true, object });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await this.intents.fail(intent, error);
      return answer(found, { applied: false, object, stuck: error });
    }
  }

  private removeRecord(
    found: FoundFile,
    { context, input }: Deletion,
    { tombstone, object }: { readonly tombstone: boolean; readonly object: RemoteObject | null },
  ): Promise<Output | RawJson> {
    const { id: file_id, node_id: nodeId } = found.file;
    const { expected_version } = input;
    return runCommand(this.database, context, async (tx) => {
      const expected = expected_version === undefined ? {} : { expected_version };
      const change = { kind: 'remove' as const, file_id, tombstone, ...expected };
      await applyChange(tx, { nodeId, action: context.operation.name }, change);
      return answer(found, { applied: true, object });
    });
  }
}

/** Whether a remote has said no: anything else may have been carried out. */
function isDecided(error: unknown): boolean {
  return error instanceof RemoteFailure && error.reason !== 'unavailable';
}

function answer(
  found: FoundFile,
  {
    applied,
    object,
    stuck,
  }: { readonly applied: boolean; readonly object: RemoteObject | null; readonly stuck?: unknown },
): Output {
  return {
    applied,
    file: answerFor(found),
    removes: object ? ['record', 'remote_object'] : ['record'],
    trash_id: null,
    repair_needed: stuck !== undefined,
    hint: stuck === undefined ? null : stuckHint('The deletion', stuck),
  };
}
