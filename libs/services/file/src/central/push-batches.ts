import { createHash, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type FileRefusal, type Push, type PushedFile, type PushOutcome, refusalOf } from '@workspace-graph/contracts';
import { type CommandContext, Database, runCommand } from '@workspace-graph/database';
import { only } from '@workspace-graph/disk';
import { RemoteFailure } from '@workspace-graph/remotes';
import pMap from 'p-map';
import { onObject } from '../remotes/refusals.js';
import type { HeldRemote } from '../remotes/remote-pool.js';
import { toldPath } from '../shared/told-path.js';
import type { RemoteObject } from './object-locks.js';
import { type FoundFile, SET_REMOTES } from './remote-file.statements.js';
import { objectAt, objectOf, RemoteFiles, storedHashOf } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';
import { RemotePushes } from './remote-pushes.js';

/** A push with its content, all of it. */
export interface WholePush {
  readonly push: Push;
  readonly bytes: Uint8Array;
}

/** Several pushes of files of one node, on behalf of whoever sends them. */
export interface PushBatch {
  readonly nodeId: string;
  readonly pushes: readonly WholePush[];
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

/** A push that goes as most do: nothing lies at its place, or what was seen there last and what it builds on. */
interface Planned extends WholePush {
  readonly found: FoundFile;
  readonly object: RemoteObject;
  /** Revision that is replaced; null for a new object. */
  readonly expected: string | null;
}

type Written = Planned & { readonly revision: string };
type Outcomes = Map<string, Omit<PushOutcome, 'file_id'>>;

/** Contents that are written at once. */
const AT_ONCE = 16;

/**
 * Small contents that devices bring together: looked up, locked and recorded as a set, where the storage itself makes sure
 * that nothing is overwritten unseen. Every one that is out of the ordinary goes by itself, and is refused by itself.
 */
@Injectable()
export class PushBatches {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
    private readonly pushes: RemotePushes,
  ) {}

  /** What became of each, in their order. @throws what is no refusal */
  async receive(batch: PushBatch): Promise<PushOutcome[]> {
    const outcomes: Outcomes = new Map();
    const planned = await this.plan(batch, batch.pushes.filter(isWhole));
    for (const [remote, group] of Map.groupBy(planned, ({ object }) => object.remote))
      await this.store(batch, remote, group, outcomes);
    const told: PushOutcome[] = [];
    for (const { push, bytes } of batch.pushes) {
      const outcome = outcomes.get(push.file_id) ?? (await this.alone(batch, { push, bytes }));
      told.push({ file_id: push.file_id, ...outcome });
    }
    return told;
  }

  private async plan(
    { nodeId, context: { caller } }: PushBatch,
    pushes: readonly WholePush[],
  ): Promise<readonly Planned[]> {
    const ids = pushes.map(({ push }) => push.file_id);
    const found = await this.files.some(ids, caller);
    const fresh = [...found.values()].filter((file) => objectOf(file) === null && isOrdinary(file, nodeId));
    const route = fresh[0] && (await this.files.remoteOf(fresh[0]).catch(() => null));
    const places = new Map(route ? fresh.map((file) => [file.file.id, objectAt(route, file, file.file.path)]) : []);
    const taken = route
      ? await this.files.knownObjects(
          route,
          [...places.values()].map(({ path }) => path),
        )
      : new Set();
    return pushes.flatMap((each): Planned[] => {
      const file = found.get(each.push.file_id);
      if (!file || !isOrdinary(file, nodeId)) return [];
      const place = places.get(file.file.id);
      if (place) return taken.has(place.path) ? [] : [{ ...each, found: file, object: place, expected: null }];
      const object = objectOf(file);
      const [expected, stored] = [file.remote_revision, storedHashOf(file)];
      if (!object || expected === null || stored !== each.push.builds_on || stored === each.push.sha256) return [];
      return [{ ...each, found: file, object, expected }];
    });
  }

  /** Those that are found to be out of the ordinary get no outcome. */
  private async store(batch: PushBatch, remote: string, group: readonly Planned[], outcomes: Outcomes): Promise<void> {
    const [first, ...others] = group;
    if (!first) return;
    const told = { path: first.found.file.path, signal: batch.signal };
    const refuseAll = (refused: FileRefusal): void => {
      for (const { push } of group) outcomes.set(push.file_id, { refused });
    };
    try {
      await this.objects.change([first.object, ...others.map(({ object }) => object)], told, async (held, locked) => {
        const still = await this.unchanged(batch, group);
        const written = await writeAll(held, still, locked);
        for (const { id, refused } of written.filter((each) => 'refused' in each)) outcomes.set(id, { refused });
        const there = written.flatMap((each) => ('revision' in each ? each : []));
        for (const [id, pushed] of await this.record(batch, remote, there)) outcomes.set(id, { pushed });
        await withdraw(held, there, outcomes);
      });
    } catch (error) {
      refuseAll(refusalOf(error instanceof AggregateError ? error.errors[0] : error));
    }
  }

  /** Those of which everything is as it was planned, now that nobody else changes their objects. */
  private async unchanged(batch: PushBatch, group: readonly Planned[]): Promise<readonly Planned[]> {
    const now = await this.plan(batch, group);
    const byId = new Map(now.map((planned) => [planned.push.file_id, planned]));
    return group.filter(({ push, object, expected }) => {
      const again = byId.get(push.file_id);
      return again?.expected === expected && isDeepStrictEqual(again.object, object);
    });
  }

  /** Without those that are gone, or not the caller's to write on any more. */
  private async record(
    { context }: PushBatch,
    remote: string,
    written: readonly Written[],
  ): Promise<ReadonlyMap<string, PushedFile>> {
    if (written.length === 0) return new Map();
    const own = callOfItsOwn(context);
    let pushed: [string, PushedFile][] = [];
    await runCommand(this.database, own, async (tx) => {
      const ids = written.map(({ push }) => push.file_id);
      const before = await this.files.some(ids, own.caller, tx);
      const kept = written.filter(({ push }) => before.get(push.file_id)?.is_writable);
      await tx.execute(SET_REMOTES, [
        kept.map(({ push }) => push.file_id),
        remote,
        kept.map(({ object }) => object.path),
        kept.map(({ revision }) => revision),
        kept.map(({ push }) => push.sha256),
      ]);
      for (const { push } of kept) {
        const file = before.get(push.file_id)?.file;
        const after = `sha256:${push.sha256}`;
        if (!file || file.current_remote_hash === after) continue;
        tx.audit({
          action: own.operation.name,
          targetKind: 'file',
          targetId: file.id,
          concerns: [file.node_id],
          before: { current_remote_hash: file.current_remote_hash },
          after: { current_remote_hash: after, remote_name: remote },
        });
      }
      const nodes = new Set([...before.values()].map(({ file }) => file.node_id));
      for (const node_id of nodes) tx.emit('file.changed', { node_id });
      const now = await this.files.some(ids, own.caller, tx);
      pushed = kept.flatMap(({ push, object }) => {
        const found = now.get(push.file_id);
        if (!found) return [];
        const { file } = found;
        return [[push.file_id, { file, remote_path: toldPath(found, object.path, file.path) }]];
      });
      return { recorded: kept.length };
    });
    return new Map(pushed);
  }

  private async alone(
    { context, signal }: PushBatch,
    { push, bytes }: WholePush,
  ): Promise<Omit<PushOutcome, 'file_id'>> {
    try {
      return {
        pushed: await this.pushes.receive({
          push,
          from: 0,
          bytes: only(bytes),
          context: callOfItsOwn(context),
          signal,
        }),
      };
    } catch (error) {
      return { refused: refusalOf(error) };
    }
  }
}

type Told = Written | { readonly id: string; readonly refused: FileRefusal } | { readonly id: string };

/** New ones together, where the storage takes them so, and the others one by one. */
async function writeAll(held: HeldRemote, planned: readonly Planned[], signal: AbortSignal): Promise<readonly Told[]> {
  const { together } = held.remote;
  const isNew = ({ expected }: Planned): boolean => together !== undefined && expected === null;
  const { fresh = [], others = [] } = Object.groupBy(planned, (each) => (isNew(each) ? 'fresh' : 'others'));
  const contents = fresh.map(({ push, bytes, object }) => ({ path: object.path, bytes, modifiedAt: push.modified_at }));
  const written = (await together?.write(contents, { signal })) ?? [];
  const one = (each: Planned): Promise<Told> =>
    outcomeOf(held, each, async () => {
      const options = { expected: each.expected, modifiedAt: each.push.modified_at, signal };
      return (await held.remote.write(each.object.path, only(each.bytes), options)).revision;
    });
  return [
    ...(await Promise.all(fresh.map((each, index) => outcomeOf(held, each, async () => revisionOf(written[index]))))),
    ...(await pMap(others, one, { concurrency: AT_ONCE, stopOnError: false })),
  ];
}

/** Without a revision or a refusal when what lies there is another thing than was planned. @throws what is no refusal */
async function outcomeOf(held: HeldRemote, planned: Planned, write: () => Promise<string>): Promise<Told> {
  const id = planned.push.file_id;
  try {
    const revision = await onObject(held.name, planned.found.file.path, () =>
      write().catch((error: unknown) => {
        if (error instanceof RemoteFailure && (error.reason === 'changed' || error.reason === 'exists')) return null;
        throw error;
      }),
    );
    return revision === null ? { id } : { ...planned, revision };
  } catch (error) {
    return { id, refused: refusalOf(error) };
  }
}

/** @throws what it was refused with */
function revisionOf(outcome: PromiseSettledResult<string> | undefined): string {
  if (outcome?.status === 'fulfilled') return outcome.value;
  throw outcome?.reason;
}

/** A file that is gone leaves nothing new behind; what was replaced is told to the next one who looks. */
async function withdraw(held: HeldRemote, written: readonly Written[], outcomes: Outcomes): Promise<void> {
  const unrecorded = written.filter(({ push, expected }) => expected === null && !outcomes.has(push.file_id));
  for (const { object, revision } of unrecorded)
    await held.remote.remove(object.path, { expected: revision }).catch(() => undefined);
}

function isOrdinary({ file, is_writable }: FoundFile, nodeId: string): boolean {
  return file.node_id === nodeId && is_writable && !file.is_native_format;
}

function isWhole({ push, bytes }: WholePush): boolean {
  return bytes.length === push.size_bytes && createHash('sha256').update(bytes).digest('hex') === push.sha256;
}

/** Each change is applied once by the id of its call. */
function callOfItsOwn(context: CommandContext): CommandContext {
  return { ...context, envelope: { ...context.envelope, callId: randomUUID() } };
}
