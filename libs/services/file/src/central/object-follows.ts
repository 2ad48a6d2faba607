import { Injectable } from '@nestjs/common';
import { Database, runCommand, systemContext, type Transaction } from '@workspace-graph/database';
import { RemoteFailure } from '@workspace-graph/remotes';
import type { HeldRemote } from '../remotes/remote-pool.js';
import { seenBy } from '../shared/caller.js';
import { CentreIntents } from './centre-intents.js';
import { freeOfFolder } from './empty-folders.js';
import type { LiveContent } from './live-contents.js';
import type { RemoteObject } from './object-locks.js';
import { recordObject } from './record-changes.js';
import { type CentreIntent, DROP_FOLLOW, FILE_BY_ID, FOLLOWS_FROM, type FoundFile } from './remote-file.statements.js';
import { isTaken, objectAt, objectOf, RemoteFiles, storedHashOf } from './remote-files.js';
import { copyOver } from './remote-moves.js';
import { RemoteObjects } from './remote-objects.js';

type Row<T> = T & Record<string, unknown>;

/** Where an object lies, and where its record tells that it is to lie. */
interface Route {
  readonly found: FoundFile;
  readonly from: RemoteObject;
  readonly goal: RemoteObject;
}

interface Following extends Route {
  readonly held: HeldRemote;
  readonly signal: AbortSignal;
}

/**
 * Brings objects to where their records have gone: a workstation moves files in its folders, in the midst of an outage too,
 * and their objects come after. Until one has come, the file is read where its object still lies.
 */
@Injectable()
export class ObjectFollows {
  private readonly caller = systemContext('move_file').caller;

  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
    private readonly intents: CentreIntents,
  ) {}

  /**
   * Carries out what is noted. Answers false when it has to be looked at again.
   * @throws ServiceError; DESTINATION_EXISTS while something else lies where the object is to go
   */
  async settle({ id }: Pick<CentreIntent, 'id'>, signal: AbortSignal): Promise<boolean> {
    const planned = await this.plan(id);
    if (planned === null) return true;
    const { from, goal, found } = planned;
    return this.objects.change([from, goal], { path: found.file.path, signal }, async (held, locked) => {
      // Whoever held the objects until now may have come to an end, and the record may have gone on.
      const now = await this.plan(id);
      if (now === null) return true;
      if (!isSame(now.from, from) || !isSame(now.goal, goal)) return false;
      return this.follow({ ...now, held, signal: locked });
    });
  }

  /** Has whatever is about to leave an object leave it now, so that another file can lie there. */
  async clear({ remote, path }: RemoteObject, signal: AbortSignal): Promise<void> {
    const leaving = await this.database.rows<Row<CentreIntent>>(FOLLOWS_FROM, [remote, path]);
    for (const intent of leaving)
      await this.settle(intent, signal).catch((error: unknown) => this.intents.fail(intent, error));
  }

  /**
   * Of objects that go to each other's places in a circle, one steps aside: the others find theirs free then, and its own
   * in the end. Answers whether one did.
   */
  async unwind(waiting: readonly Pick<CentreIntent, 'id'>[], signal: AbortSignal): Promise<boolean> {
    const leaving = new Map<string, Route & Pick<CentreIntent, 'id'>>();
    for (const { id } of waiting) {
      const route = await this.plan(id);
      if (route) leaving.set(keyOf(route.from), { id, ...route });
    }
    let isAnyAside = false;
    for (const { id, from } of firstOfCircles(leaving))
      isAnyAside = (await this.stepAside(id, from, signal)) || isAnyAside;
    return isAnyAside;
  }

  private stepAside(id: string, from: RemoteObject, signal: AbortSignal): Promise<boolean> {
    const folder = from.path.slice(0, from.path.lastIndexOf('/') + 1);
    const aside = { remote: from.remote, path: `${folder}.moving-${id}` };
    return this.objects.change([from, aside], { path: from.path, signal }, async (held, locked) => {
      const now = await this.plan(id);
      const live = now && isSame(now.from, from) ? await this.objects.contents.find(held, now.found, locked) : null;
      if (!now || !live) return false;
      const { id: fileId, node_id: nodeId, path } = now.found.file;
      const intent = await this.intents.note(now.found, from, this.caller, { nodeId, path, object: aside });
      const moved = await held.remote.move(from.path, aside.path, { expected: live.entry.revision, signal: locked });
      await runCommand(this.database, systemContext('move_file'), async (tx) => {
        await recordObject(tx, fileId, { ...aside, live: { entry: moved, sha256: live.sha256 } });
        await this.intents.drop(intent, tx);
        return { done: true };
      });
      return true;
    });
  }

  /** Null for what is not noted any more, and for an object that lies where it is to. */
  private async plan(id: string): Promise<Route | null> {
    const intent = await this.intents.find(id);
    if (!intent) return null;
    const found = await this.files.changeable(intent.file_id, this.caller, {});
    const from = objectOf(found);
    const goal = from && (await this.goalOf(found, from, intent));
    if (from && goal && !isSame(from, goal)) return { found, from, goal };
    await this.intents.drop(intent);
    return null;
  }

  /** Within its node a file stays on its remote. */
  private async goalOf(found: FoundFile, from: RemoteObject, intent: CentreIntent): Promise<RemoteObject> {
    const isSameNode = found.file.node_id === intent.node_id;
    return objectAt(isSameNode ? from.remote : await this.files.remoteOf(found), found, found.file.path);
  }

  private async follow(following: Following): Promise<boolean> {
    const { held, found, from, goal, signal } = following;
    // Its own record tells where it comes from: one that tells of the goal is another file's.
    if ((await this.files.knownObjects(goal.remote, [goal.path])).size > 0) throw isTaken(found.file.path);
    const live = await this.objects.contents.find(held, found, signal);
    if (from.remote !== goal.remote)
      return this.objects.beside(goal.remote, (target) => this.carryOver(following, target, live));
    // It may have been moved by a process that ended before it could say so.
    const there = live ? await this.move(following, live) : await this.arrived(following, held);
    return this.record(following, there);
  }

  private async move(following: Following, live: LiveContent, isFree = false): Promise<LiveContent> {
    const { held, goal, from, found, signal } = following;
    try {
      const entry = await held.remote.move(from.path, goal.path, { expected: live.entry.revision, signal });
      return { entry, sha256: live.sha256 };
    } catch (error) {
      if (!(error instanceof RemoteFailure) || error.reason !== 'exists') throw error;
      if (isFree || !(await freeOfFolder(held.remote, goal.path, signal))) throw isTaken(found.file.path);
      return this.move(following, live, true);
    }
  }

  private async carryOver(following: Following, target: HeldRemote, live: LiveContent | null): Promise<boolean> {
    const { held, found, from, goal, signal } = following;
    if (live === null) return this.record(following, await this.arrived(following, target));
    const there = await this.lying(target, following);
    if (there && there.sha256 !== live.sha256) throw isTaken(found.file.path);
    const { node_id: nodeId, path } = found.file;
    const intent = await this.intents.note(found, from, this.caller, { nodeId, path, object: goal });
    const entry = there?.entry ?? (await copyOver(held.remote, target.remote, { live, to: goal.path, signal }));
    const isDone = await this.record(following, { entry, sha256: live.sha256 });
    try {
      await held.remote.remove(from.path, { expected: live.entry.revision, signal });
      await this.intents.drop(intent);
    } catch (error) {
      // What is left where it was goes later.
      await this.intents.fail(intent, error);
    }
    return isDone;
  }

  /** What lies at the goal, if it is the content of the file; an object that is nowhere follows nothing. */
  private async arrived(following: Following, target: HeldRemote): Promise<LiveContent | null> {
    const there = await this.lying(target, following);
    return there?.sha256 === storedHashOf(following.found) ? there : null;
  }

  private async lying(target: HeldRemote, { found, goal, signal }: Following): Promise<LiveContent | null> {
    const entry = await target.remote.stat(goal.path, { signal });
    return entry && this.objects.contents.of(target, { entry, known: null, path: found.file.path }, signal);
  }

  private async record({ found, goal }: Following, there: LiveContent | null): Promise<boolean> {
    const { id } = found.file;
    let isDone = true;
    await runCommand(this.database, systemContext('move_file'), async (tx) => {
      if (there) await recordObject(tx, id, { ...goal, live: there });
      // From here on the record waits for us, so what moves it next notes it anew.
      isDone = await hasStayed(tx, found);
      if (isDone) await tx.execute(DROP_FOLLOW, [id]);
      return { done: true };
    });
    return isDone;
  }
}

async function hasStayed(tx: Transaction, { file }: FoundFile): Promise<boolean> {
  const now = await tx.row<Row<FoundFile>>(FILE_BY_ID, [...seenBy(tx.context.caller), file.id, null]);
  return now?.file.node_id === file.node_id && now.file.path === file.path;
}

/** One of each circle in which every place is that to which the one before goes; routes by the places that they leave. */
function firstOfCircles<T extends Route>(leaving: ReadonlyMap<string, T>): T[] {
  const firsts: T[] = [];
  const passed = new Set<string>();
  for (const first of leaving.values()) {
    const start = keyOf(first.from);
    let key = start;
    for (let next = leaving.get(key); next && !passed.has(key); next = leaving.get(key)) {
      passed.add(key);
      key = keyOf(next.goal);
      if (key === start) firsts.push(first);
    }
  }
  return firsts;
}

function keyOf({ remote, path }: RemoteObject): string {
  return `${remote}\n${path}`;
}

function isSame(one: RemoteObject, other: RemoteObject): boolean {
  return one.remote === other.remote && one.path === other.path;
}
