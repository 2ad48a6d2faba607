import { Injectable } from '@nestjs/common';
import { type moveFile, type OutputOf, type ParsedInputOf, type RawJson } from '@workspace-graph/contracts';
import { appliedBefore, appliedOnce, type CommandContext, Database, runCommand } from '@workspace-graph/database';
import { pathOfMovedFile } from '@workspace-graph/domain';
import { type Remote, RemoteFailure, type RemoteFile } from '@workspace-graph/remotes';
import { isDocument } from '../changes/plan-changes.js';
import type { HeldRemote } from '../remotes/remote-pool.js';
import { fileNotFound } from '../shared/caller.js';
import { CentreIntents, type MoveGoal, stuckHint } from './centre-intents.js';
import { InterruptedChanges } from './interrupted-changes.js';
import type { LiveContent } from './live-contents.js';
import type { RemoteObject } from './object-locks.js';
import { applyChange, isRefusal, recordObject } from './record-changes.js';
import type { CentreIntent, FileNode, FoundFile } from './remote-file.statements.js';
import { answerOf, isTaken, objectAt, objectOf, RemoteFiles } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';

type Input = ParsedInputOf<typeof moveFile>;
type Output = OutputOf<typeof moveFile>;

/** What a move works with. */
interface Moving {
  readonly input: Input;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

/** A content on its way. */
interface Route extends Moving {
  readonly found: FoundFile;
  readonly from: RemoteObject;
  readonly goal: MoveGoal;
}

/** Moving files within a remote or to another one: the object first, then the record, and the intent noted before. */
@Injectable()
export class RemoteMoves {
  private readonly intents: CentreIntents;

  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
    private readonly interrupted: InterruptedChanges,
  ) {
    this.intents = interrupted.intents;
  }

  /**
   * @throws ServiceError FILE_NOT_FOUND, NODE_NOT_FOUND, FORBIDDEN, VALIDATION_FAILED, CONFLICT, DESTINATION_EXISTS, NO_REMOTE,
   * REMOTE_REFUSED, REMOTE_UNAVAILABLE
   */
  run(moving: Moving): Promise<Output | RawJson> {
    return appliedOnce(this.database, moving.context, () => this.move(moving));
  }

  private async move(moving: Moving): Promise<Output | RawJson> {
    const { found, to } = await this.settledPlan(moving);
    const { node_id, path } = found.file;
    const isThere = to.nodeId === node_id && to.path === path;
    if (isThere || !moving.input.confirmed) {
      const told = { ...answer(found, to), applied: isThere && moving.input.confirmed, already_at_target: isThere };
      if (!told.applied) return told;
      return runCommand(this.database, moving.context, async (tx) => ({
        ...told,
        file: await answerOf(tx, found.file.id),
      }));
    }
    // What is on no remote moves by its record alone.
    if (!objectOf(found)) return this.record(moving, { found, to, live: null, object: null });
    const find = async () => {
      const route = await this.route(moving);
      return { ...route, path, objects: [route.from, route.goal.object] as const };
    };
    return this.objects.changeFound(
      find,
      moving.signal,
      async (held, { from, goal, found: now }, signal) =>
        (await appliedBefore(this.database, moving.context)) ??
        (await this.moveObject(held, { ...moving, from, goal, found: now, signal })),
    );
  }

  /** From where to where, as things stand now. */
  private async route(moving: Moving): Promise<Pick<Route, 'found' | 'from' | 'goal'>> {
    const { found, node, to } = await this.plan(moving);
    const from = objectOf(found);
    if (!from) throw fileNotFound(found.file.id);
    return { found, from, goal: { ...to, object: await this.objectOfTarget(found, node, to) } };
  }

  /** A move of the file that was cut off comes first. */
  private async settledPlan(moving: Moving) {
    const plan = await this.plan(moving);
    const isOther = moving.input.confirmed && (await this.interrupted.settleMoves(plan.found, moving.signal));
    return isOther ? this.plan(moving) : plan;
  }

  /** Looked at before the locks and again behind them. */
  private async plan({ input, context }: Moving) {
    const asked = { nodeId: input.node_id, version: input.expected_version };
    const found = await this.files.changeable(input.file_id, context.caller, asked);
    if (found.file.is_native_format) throw isDocument(found.file.path);
    const to = { nodeId: input.new_node_id ?? found.file.node_id, path: pathOfMovedFile(found.file.path, input) };
    const node = await this.files.writable(to.nodeId, context.caller);
    const there = await this.files.occupying(to.nodeId, to.path, context.caller);
    if (there && there.file.id !== found.file.id) throw isTaken(there.file.path);
    return { found, node, to };
  }

  /** Within its node a file stays on its remote. */
  private async objectOfTarget(
    { file }: FoundFile,
    node: FileNode,
    to: { nodeId: string; path: string },
  ): Promise<RemoteObject> {
    const isSameNode = to.nodeId === file.node_id && file.remote_name !== null;
    return objectAt(isSameNode ? (file.remote_name ?? '') : await this.files.remoteOf(node), node, to.path);
  }

  private async moveObject(held: HeldRemote, route: Route): Promise<Output | RawJson> {
    const { found, signal, from, goal, context } = route;
    const live = await this.objects.contents.require(held, found, signal);
    if (from.remote === goal.object.remote && from.path === goal.object.path)
      return this.record(route, { found, to: goal, live, object: goal.object });
    const intent = await this.intents.note(found, from, context.caller, goal);
    if (from.remote === goal.object.remote) return this.rename(held, route, { live, intent });
    return this.objects.beside(goal.object.remote, (target) =>
      this.carryOver({ held, target }, route, { live, intent }),
    );
  }

  /** One call to the remote, which is undone by another one. */
  private async rename({ remote }: HeldRemote, route: Route, { live, intent }: Noted): Promise<Output | RawJson> {
    const { from, goal, found, signal } = route;
    let entry: RemoteFile;
    try {
      entry = await remote.move(from.path, goal.object.path, { expected: live.entry.revision, signal });
    } catch (error) {
      return this.brokenOff(route, intent, error);
    }
    const moved = { entry, sha256: live.sha256 };
    return this.recorded(intent, {
      record: () => this.record(route, { found, to: goal, live: moved, object: goal.object, intent }),
      undo: () => remote.move(goal.object.path, from.path, { expected: entry.revision }),
    });
  }

  /** Copied, recorded, and only then removed where it was. */
  private async carryOver(
    { held, target }: { readonly held: HeldRemote; readonly target: HeldRemote },
    route: Route,
    { live, intent }: Noted,
  ): Promise<Output | RawJson> {
    const { from, goal, found, signal } = route;
    let entry: RemoteFile;
    try {
      entry = await copyOver(held.remote, target.remote, { live, to: goal.object.path, signal });
    } catch (error) {
      return this.brokenOff(route, intent, error);
    }
    const told = await this.recorded(intent, {
      record: () => this.record(route, { found, to: goal, live: { entry, sha256: live.sha256 }, object: goal.object }),
      undo: () => target.remote.remove(goal.object.path, { expected: entry.revision }),
    });
    try {
      await held.remote.remove(from.path, { expected: live.entry.revision, signal });
      await this.intents.drop(intent);
    } catch (error) {
      // The file is moved; what is left where it was goes later.
      await this.intents.fail(intent, error);
    }
    return told;
  }

  /** A remote that said no has changed nothing; after anything else it is looked at later. */
  private async brokenOff({ found, goal }: Route, intent: CentreIntent, error: unknown): Promise<Output> {
    if (error instanceof RemoteFailure && error.reason === 'unavailable') {
      await this.intents.fail(intent, error);
      return { ...answer(found, goal), applied: false, repair_needed: true, hint: stuckHint('The move', error) };
    }
    await this.intents.drop(intent);
    throw error;
  }

  private async recorded<T>(
    intent: CentreIntent,
    { record, undo }: { readonly record: () => Promise<T>; readonly undo: () => Promise<unknown> },
  ): Promise<T> {
    try {
      return await record();
    } catch (error) {
      // What may have been recorded is looked at later.
      if (!isRefusal(error)) throw error;
      await undo().then(
        () => this.intents.drop(intent),
        (reason: unknown) => this.intents.fail(intent, reason),
      );
      throw error;
    }
  }

  private record({ context, input }: Moving, { found, to, live, object, intent }: Recorded): Promise<Output | RawJson> {
    const { id: file_id, node_id: nodeId } = found.file;
    return runCommand(this.database, context, async (tx) => {
      const expected = input.expected_version === undefined ? {} : { expected_version: input.expected_version };
      const change = { kind: 'move' as const, file_id, node_id: to.nodeId, path: to.path, ...expected };
      await applyChange(tx, { nodeId, action: context.operation.name }, change);
      if (object && live) await recordObject(tx, file_id, { ...object, live });
      if (intent) await this.intents.drop(intent, tx);
      return { ...answer(found, to), applied: true, file: await answerOf(tx, file_id) };
    });
  }
}

interface Noted {
  readonly live: LiveContent;
  readonly intent: CentreIntent;
}

interface Recorded {
  readonly found: FoundFile;
  readonly to: { readonly nodeId: string; readonly path: string };
  readonly live: LiveContent | null;
  readonly object: RemoteObject | null;
  /** It is done with the record. */
  readonly intent?: CentreIntent;
}

/** @throws RemoteFailure; what was written so far is gone then */
export async function copyOver(
  from: Remote,
  target: Remote,
  { live: { entry }, to, signal }: { readonly live: LiveContent; readonly to: string; readonly signal: AbortSignal },
): Promise<RemoteFile> {
  await using content = await from.read(entry.path, { expected: entry.revision, signal });
  return await target.write(to, content.bytes, { expected: null, modifiedAt: entry.modifiedAt, signal });
}

function answer({ file }: FoundFile, { nodeId, path }: { readonly nodeId: string; readonly path: string }): Output {
  return {
    applied: false,
    from: { node_id: file.node_id, path: file.path },
    to: { node_id: nodeId, path },
    already_at_target: false,
    file: null,
    repair_needed: false,
    hint: null,
  };
}
