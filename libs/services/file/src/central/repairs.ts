import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { Database, runCommand, systemContext, type Transaction } from '@workspace-graph/database';
import type { RemoteFile } from '@workspace-graph/remotes';
import type { HeldRemote } from '../remotes/remote-pool.js';
import { CentreIntents } from './centre-intents.js';
import type { LiveContent } from './live-contents.js';
import { applyChange, recordObject } from './record-changes.js';
import { CENTRE_INTENT, CENTRE_INTENTS, type CentreIntent, type FoundFile } from './remote-file.statements.js';
import { objectOf, RemoteFiles } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';

const EVERY_MS = 60_000;
const AT_ONCE = 100;
type Row = CentreIntent & Record<string, unknown>;

/** Finishes or takes back what a process that ended, or a remote that was away, has left half done. */
@Injectable()
export class Repairs implements OnModuleInit, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private readonly ended = new AbortController();
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
    private readonly intents: CentreIntents,
  ) {}

  onModuleInit(): void {
    this.again(0);
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    this.ended.abort();
    await this.running;
  }

  /** Looks at everything that is noted, once. @returns how many are settled */
  async run(): Promise<number> {
    let settled = 0;
    for (let after: string | null = null; ; ) {
      const intents: Row[] = await this.database.rows<Row>(CENTRE_INTENTS, [after, AT_ONCE]);
      for (const intent of intents) {
        if (this.ended.signal.aborted) return settled;
        if (await this.settle(intent)) settled += 1;
      }
      after = intents.at(-1)?.id ?? null;
      if (after === null) return settled;
    }
  }

  private again(afterMs: number): void {
    this.timer = setTimeout(() => {
      // What fails now is tried again in a minute.
      this.running = this.run().then(
        () => this.ended.signal.aborted || this.again(EVERY_MS),
        () => this.ended.signal.aborted || this.again(EVERY_MS),
      );
    }, afterMs).unref();
  }

  private async settle(noted: CentreIntent): Promise<boolean> {
    const from = { remote: noted.from_remote, path: noted.from_object };
    const to =
      noted.to_remote === null || noted.to_object === null ? [] : [{ remote: noted.to_remote, path: noted.to_object }];
    try {
      const told = { path: noted.from_path, signal: this.ended.signal };
      return await this.objects.change([from, ...to], told, async (held, signal) => {
        // Whoever held the objects until now may have come to an end.
        const intent = await this.database.row<Row>(CENTRE_INTENT, [noted.id]);
        return intent !== null && (await this.carryOn(intent, held, signal));
      });
    } catch (error) {
      if (!this.ended.signal.aborted) await this.intents.fail(noted, error).catch(() => undefined);
      return false;
    }
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
    const isStill = objectOf(found)?.path === intent.from_object && found.file.sha256 === intent.sha256;
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
    await this.change(intent, async (tx) => {
      const change = { kind: 'move' as const, file_id: intent.file_id, node_id: toNode, path };
      await applyChange(tx, { nodeId: found.file.node_id, action: 'move_file' }, change);
      await recordObject(tx, intent.file_id, { remote: target.name, path: toPath, live: goal });
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
