import type { Bus, BusEvent } from '@workspace-graph/bus';
import { type FOLLOWING_FRAMES, LIMITS, readSight, serviceCaller } from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import type { z } from 'zod';
import { ask } from '../edge/index.js';
import type { LiveSocket } from './live-socket.js';
import { PendingChanges } from './pending-changes.js';
import { Viewers } from './viewers.js';

export type Watched = z.infer<typeof FOLLOWING_FRAMES.watch>;
type Kind = keyof Watched;

const SERVICE = serviceCaller('edge');
const FRAMES = { graph: 'graph_changed', files: 'files_changed', sync: 'sync_changed' } as const;
const KINDS = ['graph', 'files', 'sync'] as const satisfies readonly Kind[];
/** Whoever is told what has changed of what they see. */
export type Watcher = Pick<LiveSocket, 'caller' | 'isOpen' | 'isFull' | 'sendText' | 'roomy'>;

/** Always the same, whatever is heard: nobody can tell from the moment of a frame what else has changed. */
const TELL_MS = 250;

/** Whether a viewer sees some nodes. */
type Sees = (place: number) => boolean;
/** Nodes that are told to the same viewers. */
interface Told {
  readonly sees: Sees;
  readonly nodes: ReadonlySet<string>;
}

/**
 * Tells those who asked for it which nodes, files and folders have changed, at most once for each kind in a quarter of a second.
 * Who sees what is read at that moment, once for everything and everybody; what nobody sees leaves no trace.
 */
export class ChangeWatch {
  private readonly watchers = new Map<Watcher, Watched>();
  /** Those who were full, and by what they missed. */
  private readonly owed = new Map<Watcher, Set<Kind>>();
  private pending = new PendingChanges();
  private sending: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly bus: Pick<Bus, 'call'>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** Sockets that are told of changes. */
  get size(): number {
    return this.watchers.size;
  }

  start(): void {
    this.timer = setInterval(() => this.sendPending(), TELL_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.watchers.clear();
    this.pending = new PendingChanges();
    await this.sending;
  }

  /** From here on a socket is told this, and nothing else. */
  watch(socket: Watcher, watched: Watched): void {
    // One that has closed meanwhile has been forgotten already.
    if (socket.isOpen && KINDS.some((kind) => watched[kind])) this.watchers.set(socket, watched);
    else this.forget(socket);
  }

  forget(socket: Watcher): void {
    this.watchers.delete(socket);
    this.owed.delete(socket);
    if (this.watchers.size === 0) this.pending = new PendingChanges();
  }

  heard(event: BusEvent): void {
    if (this.watchers.size > 0) this.pending.add(event);
  }

  /** Something may have happened unheard. */
  lookAgain(): void {
    if (this.watchers.size > 0) this.pending.isEverything = true;
  }

  private sendPending(): void {
    if (this.sending || this.pending.isEmpty) return;
    const changes = this.pending;
    this.pending = new PendingChanges();
    this.sending = this.report(changes)
      .catch((error: unknown) => {
        this.logger.warn({ err: error }, 'who sees what has changed could not be read; trying again');
        if (this.watchers.size > 0) this.pending.addAll(changes);
      })
      .finally(() => {
        this.sending = null;
      });
  }

  private async report(changes: PendingChanges): Promise<void> {
    const viewers = new Viewers();
    const sockets = [...this.watchers.keys()].map((socket) => ({ socket, place: viewers.placeOf(socket) }));
    const seesOf = changes.isEverything ? () => nobody : await this.viewersOf(changes, viewers);
    const told = {
      graph: toldOfGraph(changes, seesOf),
      files: toldOf(changes.files, seesOf),
      sync: toldOf(changes.syncs, seesOf),
    };
    const frames = viewers.list.map(({ user_id }, place) => {
      const isEverything = changes.isEverything || changes.users.has(user_id);
      const frame = (kind: Kind): string | null => frameOf(kind, isEverything ? null : seenOf(told[kind], place));
      return { graph: frame('graph'), files: frame('files'), sync: frame('sync') };
    });
    for (const { socket, place } of sockets)
      for (const kind of KINDS) this.hand(socket, kind, frames[place]?.[kind] ?? null);
  }

  /** For each node, whom it is told to. */
  private async viewersOf({ named, gone }: PendingChanges, viewers: Viewers): Promise<(nodeId: string) => Sees> {
    const sights = new Map<string, Sees>();
    for (let from = 0; from < named.length; from += LIMITS.nodesPerEvent)
      await this.readSight(named.slice(from, from + LIMITS.nodesPerEvent), viewers, sights);
    for (const [id, users] of gone)
      sights.set(id, (place) => {
        const viewer = viewers.list[place];
        return viewer !== undefined && (users === null || viewer.sees_all || users.has(viewer.user_id));
      });
    return (nodeId) => sights.get(nodeId) ?? nobody;
  }

  private async readSight(node_ids: string[], viewers: Viewers, sights: Map<string, Sees>): Promise<void> {
    const { seen } = await ask(this.bus, readSight, { viewers: viewers.list, node_ids }, { caller: SERVICE });
    for (const { nodes, by } of seen) {
      const places = by && new Set(by);
      const sees: Sees = places === null ? everybody : (place) => places.has(place);
      for (const node of nodes) sights.set(node_ids[node] ?? '', sees);
    }
  }

  /** A socket that is full is told to look at everything once it takes frames again. */
  private hand(socket: Watcher, kind: Kind, text: string | null): void {
    if (text === null || !this.watchers.get(socket)?.[kind]) return;
    if (!socket.isFull) return socket.sendText(text);
    const owed = this.owed.get(socket);
    this.owed.set(socket, (owed ?? new Set()).add(kind));
    if (!owed) void socket.roomy().then(() => this.sendOwed(socket));
  }

  private sendOwed(socket: Watcher): void {
    const owed = this.owed.get(socket) ?? [];
    this.owed.delete(socket);
    for (const kind of owed) this.hand(socket, kind, frameOf(kind, null));
  }
}

const everybody: Sees = () => true;
const nobody: Sees = () => false;

function toldOfGraph({ nodes, edges }: PendingChanges, seesOf: (nodeId: string) => Sees): Told[] {
  const byEnds = new Map<Sees, Map<Sees, Set<string>>>();
  for (const [a, b] of edges.values()) {
    const [seesA, seesB] = [seesOf(a), seesOf(b)];
    const ofA = byEnds.get(seesA) ?? new Map<Sees, Set<string>>();
    byEnds.set(seesA, ofA.set(seesB, (ofA.get(seesB) ?? new Set()).add(a).add(b)));
  }
  const joined = [...byEnds].flatMap(([seesA, ofA]) =>
    [...ofA].map(([seesB, ends]): Told => ({ sees: (place) => seesA(place) && seesB(place), nodes: ends })),
  );
  return [...toldOf(nodes, seesOf), ...joined];
}

function toldOf(nodes: ReadonlySet<string>, seesOf: (nodeId: string) => Sees): Told[] {
  const bySight = new Map<Sees, Set<string>>();
  for (const id of nodes) bySight.set(seesOf(id), (bySight.get(seesOf(id)) ?? new Set()).add(id));
  return [...bySight].map(([sees, ids]) => ({ sees, nodes: ids }));
}

/** What a viewer is told; null where that is more than a frame names. */
function seenOf(told: readonly Told[], place: number): ReadonlySet<string> | null {
  const ids = new Set<string>();
  for (const { sees, nodes } of told) {
    if (!sees(place)) continue;
    for (const id of nodes) {
      ids.add(id);
      if (ids.size > LIMITS.nodesPerFrame) return null;
    }
  }
  return ids;
}

/** Null where there is nothing to tell. */
function frameOf(kind: Kind, nodes: ReadonlySet<string> | null): string | null {
  if (nodes?.size === 0) return null;
  const payload = { node_ids: [...(nodes ?? [])], everything: nodes === null };
  return JSON.stringify({ type: FRAMES[kind], payload });
}
