import { Injectable } from '@nestjs/common';
import { Database, runCommand, systemContext, type Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import type { RemoteFile } from '@workspace-graph/remotes';
import { NOTE_FOLLOWS } from '../changes/change.statements.js';
import type { HeldRemote } from '../remotes/remote-pool.js';
import { CentreIntents } from './centre-intents.js';
import type { LiveContent } from './live-contents.js';
import { applyChange, recordObject } from './record-changes.js';
import type { CentreIntent, FoundFile } from './remote-file.statements.js';
import { objectOf, RemoteFiles, storedHashOf } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';

/** Moves and deletions of the centre that were cut off: what the remote and the record tell decides what is left to do. */
@Injectable()
export class InterruptedChanges {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
    /** What is noted of them. */
    readonly intents: CentreIntents,
  ) {}

  /** Finishes one, or takes it back. Answers false when somebody else has meanwhile. @throws ServiceError */
  finish(noted: CentreIntent, ended: AbortSignal): Promise<boolean> {
    const from = { remote: noted.from_remote, path: noted.from_object };
    const to =
      noted.to_remote === null || noted.to_object === null ? [] : [{ remote: noted.to_remote, path: noted.to_object }];
    const told = { path: noted.from_path, signal: ended };
    return this.objects.change([from, ...to], told, async (held, signal) => {
      // Whoever held the objects until now may have come to an end.
      const intent = await this.intents.find(noted.id);
      return intent !== null && (await this.carryOn(intent, held, signal));
    });
  }

  /**
   * Finishes moves of a file that were cut off, or takes them back, so that whoever is about to change it finds it where it lies.
   * Answers whether there were any.
   */
  async settleMoves({ file: { id } }: FoundFile, signal: AbortSignal): Promise<boolean> {
    const intents = await this.intents.movesOf(id);
    // What fails now is tried again later, and told of by what the caller is about to do.
    for (const intent of intents) await this.finish(intent, signal).catch((error) => this.intents.fail(intent, error));
    return intents.length > 0;
  }

  private async carryOn(intent: CentreIntent, held: HeldRemote, signal: AbortSignal): Promise<boolean> {
    const { caller } = systemContext(`${intent.kind}_file`);
    const found = await this.files.changeable(intent.file_id, caller, {});
    if (intent.kind === 'delete') return this.finishDelete(intent, { held, found, signal });
    const { to_remote: toRemote } = intent;
    if (toRemote === null || toRemote === held.name)
      return this.finishMove(intent, { held, target: held, found, signal });
    return this.objects.beside(toRemote, async (target) => {
      return this.finishMove(intent, { held, target, found, signal });
    });
  }

  /** A deletion that was confirmed is carried out, unless something else lies there by now. */
  private async finishDelete(
    intent: CentreIntent,
    { held, found, signal }: { readonly held: HeldRemote; readonly found: FoundFile; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const isStill = objectOf(found)?.path === intent.from_object && storedHashOf(found) === intent.sha256;
    const live = isStill ? await this.objects.contents.find(held, found, signal) : null;
    if (!isStill || (live && live.sha256 !== intent.sha256)) return this.drop(intent);
    if (live) await held.remote.remove(live.entry.path, { expected: live.entry.revision, signal });
    await this.change(intent, async (tx) => {
      const change = { kind: 'remove' as const, file_id: intent.file_id, tombstone: true };
      await applyChange(tx, { nodeId: found.file.node_id, action: 'delete_file' }, change);
    });
    return true;
  }

  private async finishMove(intent: CentreIntent, moving: Moving): Promise<boolean> {
    const { held, target, found, signal } = moving;
    const { to_object: toPath, to_node_id: toNode, to_path: path, sha256 } = intent;
    if (toPath === null || toNode === null || path === null) return this.drop(intent);
    const [source, goal] = await Promise.all([
      this.contentAt(held, intent.from_object, signal),
      this.contentAt(target, toPath, signal),
    ]);
    const isRecorded = objectOf(found)?.path === toPath && objectOf(found)?.remote === target.name;
    if (isRecorded) {
      // The record is moved: what is left where it was goes, if nobody has changed it.
      if (source && source.sha256 === sha256) await removeAt(held, source.entry, signal);
      return this.drop(intent);
    }
    // The record is not: what was copied so far is taken back.
    if (source && goal?.sha256 === source.sha256) await removeAt(target, goal.entry, signal);
    if (source || !goal) return this.drop(intent);
    // Where the object alone was moved, the record may have gone on.
    const hasNewPath = toNode !== intent.node_id || path !== intent.from_path;
    await this.change(intent, async (tx) => {
      const change = { kind: 'move' as const, file_id: intent.file_id, node_id: toNode, path };
      if (hasNewPath) await applyChange(tx, { nodeId: found.file.node_id, action: 'move_file' }, change);
      await recordObject(tx, intent.file_id, { remote: target.name, path: toPath, live: goal });
      if (!hasNewPath) await tx.execute(NOTE_FOLLOWS, [[newId()], [intent.file_id], intent.node_id, null]);
      await this.intents.drop(intent, tx);
    });
    return true;
  }

  private async contentAt(held: HeldRemote, path: string, signal: AbortSignal): Promise<LiveContent | null> {
    const entry = await held.remote.stat(path, { signal });
    return entry === null ? null : this.objects.contents.of(held, { entry, known: null, path }, signal);
  }

  private async drop(intent: CentreIntent): Promise<boolean> {
    await this.intents.drop(intent);
    return true;
  }

  private async change({ kind }: CentreIntent, work: (tx: Transaction) => Promise<void>): Promise<void> {
    await runCommand(this.database, systemContext(`${kind}_file`), async (tx) => {
      await work(tx);
      return { done: true };
    });
  }
}

interface Moving {
  readonly held: HeldRemote;
  readonly target: HeldRemote;
  readonly found: FoundFile;
  readonly signal: AbortSignal;
}

async function removeAt({ remote }: HeldRemote, { path, revision }: RemoteFile, signal: AbortSignal): Promise<void> {
  await remote.remove(path, { expected: revision, signal });
}
