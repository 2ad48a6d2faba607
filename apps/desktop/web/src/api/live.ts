import { type Node, type SessionEvent, SOCKET_PATH } from '@workspace-graph/contracts';
import { useSyncExternalStore } from 'react';
import { queries } from './client';

/** What waits at least, and at most, before the channel is opened again. */
const AGAIN_MS = { least: 500, most: 15_000 };
/** What is told within this time is asked for together. */
const TOGETHER_MS = 150;
/** Names the request to be told of changes. */
const WATCH = 'watch';

type Connection = 'none' | 'open' | 'lost';
type Frame =
  | { readonly type: 'graph_changed' | 'files_changed' | 'sync_changed'; readonly payload: Changed }
  | {
      readonly type: 'session_state';
      readonly payload: {
        readonly session_id: string;
        readonly node_id: string | null;
        readonly waiting_since: string | null;
      };
    }
  | { readonly type: 'event'; readonly payload: { readonly session_id: string; readonly event: SessionEvent } }
  | { readonly type: 'reply'; readonly id?: unknown }
  | {
      readonly type: 'error';
      readonly id?: unknown;
      readonly payload: { readonly code: string; readonly details?: { readonly session_id?: unknown } };
    }
  | { readonly type: 'delta' };
interface Changed {
  readonly node_ids: readonly string[];
  readonly everything: boolean;
}

/** What follows the log of one session. */
export interface Follower {
  /** seq of the last event that is known. */
  readonly after: () => number;
  readonly onEvent: (event: SessionEvent) => void;
  /** The session is not there any more for whoever looks. */
  readonly onGone: () => void;
}

/**
 * The live channel of this page: what changes elsewhere is asked for again, within a moment and without polling. The overview
 * is not: it stays as it is until somebody refreshes it.
 */
class Live {
  private socket: WebSocket | undefined;
  private waitMs = AGAIN_MS.least;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private changed = new Set<string>();
  private changedSessions = new Map<string, string | null>();
  private changedFolders = new Set<string>();
  private isEverything = false;
  private readonly waiting = new Set<string>();
  private hasNewWaiting = false;
  private flushing: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<() => void>();
  private readonly followers = new Map<string, Follower>();
  state: Connection = 'none';

  /** Opens the channel and keeps it open until the answered function is called. */
  start(): () => void {
    this.open();
    return () => this.stop();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Hears of the events of a session, also after the channel was lost, until the answered function is called. */
  follow(sessionId: string, follower: Follower): () => void {
    this.followers.set(sessionId, follower);
    this.subscribeTo(sessionId);
    return () => {
      if (this.followers.get(sessionId) !== follower) return;
      this.followers.delete(sessionId);
      this.send('unsubscribe', { session_id: sessionId });
    };
  }

  private subscribeTo(sessionId: string): void {
    const after = this.followers.get(sessionId)?.after();
    if (after !== undefined) this.send('subscribe', { session_id: sessionId, after }, sessionId);
  }

  private send(type: string, payload: object, id?: string): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ id, type, payload }));
  }

  private open(): void {
    const socket = new WebSocket(location.origin.replace(/^http/, 'ws') + SOCKET_PATH);
    this.socket = socket;
    socket.onopen = () => {
      this.waitMs = AGAIN_MS.least;
      this.send('watch', { graph: true, files: true, sync: true }, WATCH);
      for (const sessionId of this.followers.keys()) this.subscribeTo(sessionId);
    };
    socket.onmessage = ({ data }) => this.take(JSON.parse(String(data)) as Frame);
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.tell('lost');
      // Whether the credential is still good is a question of its own: its answer shows the door.
      void queries.invalidateQueries({ queryKey: ['me'] });
      this.timer = setTimeout(() => this.open(), this.waitMs * (0.75 + Math.random() / 2));
      this.waitMs = Math.min(this.waitMs * 2, AGAIN_MS.most);
    };
  }

  private stop(): void {
    const { socket } = this;
    this.socket = undefined;
    clearTimeout(this.timer);
    clearTimeout(this.flushing);
    this.flushing = undefined;
    this.waitMs = AGAIN_MS.least;
    this.waiting.clear();
    this.tell('none');
    socket?.close();
  }

  private take(frame: Frame): void {
    if (frame.type === 'graph_changed' || frame.type === 'files_changed')
      this.note(frame.payload.node_ids, frame.payload.everything);
    if (frame.type === 'sync_changed') this.noteFolders(frame.payload.node_ids, frame.payload.everything);
    if (frame.type === 'reply' && frame.id === WATCH) {
      this.tell('open');
      // What changed while nobody listened, or between the first answers and this moment.
      this.note([], true);
    }
    if (frame.type === 'session_state') {
      this.noteSession(frame.payload.session_id, frame.payload.node_id);
      this.noteWaiting(frame.payload.session_id, frame.payload.waiting_since !== null);
    }
    if (frame.type === 'event') this.followers.get(frame.payload.session_id)?.onEvent(frame.payload.event);
    if (frame.type === 'error') this.refused(frame.payload.details?.session_id ?? frame.id, frame.payload.code);
  }

  /** A subscription was refused, or has ended. */
  private refused(sessionId: unknown, code: string): void {
    const follower = typeof sessionId === 'string' ? this.followers.get(sessionId) : undefined;
    if (typeof sessionId !== 'string' || !follower) return;
    if (code === 'SESSION_NOT_FOUND') {
      this.followers.delete(sessionId);
      follower.onGone();
    } else setTimeout(() => this.subscribeTo(sessionId), AGAIN_MS.least);
  }

  private noteSession(sessionId: string, nodeId: string | null): void {
    this.changedSessions.set(sessionId, nodeId);
    this.flushing ??= setTimeout(() => this.flush(), TOGETHER_MS);
  }

  private noteFolders(ids: readonly string[], isEverything: boolean): void {
    if (isEverything) return this.note([], true);
    for (const id of ids) this.changedFolders.add(id);
    this.flushing ??= setTimeout(() => this.flush(), TOGETHER_MS);
  }

  /** All of them are told when the channel opens: what is asked for again is how many wait, where that is news. */
  private noteWaiting(sessionId: string, isWaiting: boolean): void {
    if (isWaiting === this.waiting.has(sessionId)) return;
    if (isWaiting) this.waiting.add(sessionId);
    else this.waiting.delete(sessionId);
    this.hasNewWaiting = true;
  }

  private note(ids: readonly string[], isEverything: boolean): void {
    for (const id of ids) this.changed.add(id);
    this.isEverything ||= isEverything;
    this.flushing ??= setTimeout(() => this.flush(), TOGETHER_MS);
  }

  private flush(): void {
    const [ids, all, sessions] = [this.changed, this.isEverything, this.changedSessions];
    const folders = this.changedFolders;
    [this.changed, this.isEverything, this.flushing] = [new Set(), false, undefined];
    this.changedSessions = new Map();
    this.changedFolders = new Set();
    if (all || ids.size > 0) void queries.invalidateQueries({ queryKey: ['graph'] });
    if (all || folders.size > 0) void queries.invalidateQueries({ queryKey: ['sync'] });
    if (this.hasNewWaiting) void queries.invalidateQueries({ queryKey: ['waiting'] });
    this.hasNewWaiting = false;
    const homes = new Set(sessions.values());
    void queries.invalidateQueries({
      predicate: ({ queryKey: [kind, id, part] }) => {
        if (kind === 'node')
          return (
            all ||
            concerns([kind, id], ids) ||
            ((part === 'sessions' || part === 'history') && homes.has(String(id))) ||
            (part === 'folder-state' && folders.has(String(id)))
          );
        if (kind === 'session') return all || sessions.has(String(id));
        return kind === 'sessions' && (all || sessions.size > 0);
      },
    });
  }

  private tell(state: Connection): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}

/** Whether what is kept under a key shows one of these nodes: it is theirs, or a neighbour's. */
function concerns([, id]: readonly unknown[], ids: ReadonlySet<string>): boolean {
  if (typeof id !== 'string') return false;
  const edges = queries.getQueryData<Node>(['node', id, 'record'])?.edges.items ?? [];
  return ids.has(id) || edges.some(({ node }) => ids.has(node.id));
}

export const live = new Live();

/** Whether the page hears of changes. */
export function useConnection(): Connection {
  return useSyncExternalStore(live.subscribe, () => live.state);
}
