import type { Query } from '@tanstack/react-query';
import { type Node, type SessionEvent, SOCKET_PATH } from '@workspace-graph/contracts';
import { useSyncExternalStore } from 'react';
import { mayPrecede, noteQuestions } from './asked';
import { queries } from './client';

/** What waits at least, and at most, before the channel is opened again. */
const AGAIN_MS = { least: 500, most: 15_000 };
/** What is told within this time is asked for together. */
const TOGETHER_MS = 150;
/** What views show is asked for once the page hears of changes, or after this time where the channel does not open. */
const PATIENCE_MS = 1_000;
/** Names the request to be told of changes. */
const WATCH = 'watch';

/** What a node shows of the sessions that are at home there. */
const AT_HOME: ReadonlySet<unknown> = new Set(['record', 'sessions', 'history']);

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
/** What was told within a moment. */
class Told {
  readonly nodes = new Set<string>();
  readonly folders = new Set<string>();
  /** Whether each waits for an answer, and where it is at home. */
  readonly sessions = new Map<string, { readonly isWaiting: boolean; readonly nodeId: string | null }>();
  isEverything = false;
  lastMs = 0;
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
  private told = new Told();
  /** Sessions that are known to wait for an answer. */
  private readonly waiting = new Set<string>();
  private flushing: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<() => void>();
  private readonly followers = new Map<string, Follower>();
  state: Connection = 'none';
  /** Whether views may ask: answers from then on are followed, or the channel does not open. */
  isSettled = false;
  private settling: ReturnType<typeof setTimeout> | undefined;

  /** Opens the channel and keeps it open until the answered function is called. */
  start(): () => void {
    this.settling = setTimeout(() => this.settle(), PATIENCE_MS);
    this.open();
    return () => this.stop();
  }

  /** Takes it that these sessions wait for an answer, as an answer of the workspace says. */
  knowWaiting(ids: Iterable<string>): void {
    for (const id of ids) this.waiting.add(id);
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
      void queries.invalidateQueries({ queryKey: ['membership'] });
      this.timer = setTimeout(() => this.open(), this.waitMs * (0.75 + Math.random() / 2));
      this.waitMs = Math.min(this.waitMs * 2, AGAIN_MS.most);
    };
  }

  private stop(): void {
    const { socket } = this;
    this.socket = undefined;
    clearTimeout(this.timer);
    clearTimeout(this.flushing);
    clearTimeout(this.settling);
    this.flushing = undefined;
    this.told = new Told();
    this.waitMs = AGAIN_MS.least;
    this.waiting.clear();
    this.isSettled = false;
    this.tell('none');
    socket?.close();
  }

  private take(frame: Frame): void {
    if (frame.type === 'graph_changed' || frame.type === 'files_changed') this.note('nodes', frame.payload);
    if (frame.type === 'sync_changed') this.note('folders', frame.payload);
    if (frame.type === 'reply' && frame.id === WATCH) {
      // What changed while nobody listened, or between the first answers and this moment.
      this.note('nodes', { node_ids: [], everything: true });
      this.tell('open');
    }
    if (frame.type === 'session_state') {
      const { session_id, node_id: nodeId, waiting_since } = frame.payload;
      this.told.sessions.set(session_id, { isWaiting: waiting_since !== null, nodeId });
      this.noted();
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

  private note(what: 'nodes' | 'folders', { node_ids, everything }: Changed): void {
    for (const id of node_ids) this.told[what].add(id);
    this.told.isEverything ||= everything;
    this.noted();
  }

  private noted(): void {
    this.told.lastMs = performance.now();
    this.flushing ??= setTimeout(() => this.flush(), TOGETHER_MS);
  }

  /** Asks again for what shows what was told, and was asked for before that. */
  private flush(): void {
    const { told } = this;
    [this.told, this.flushing] = [new Told(), undefined];
    const shows = this.showing(told);
    void queries.invalidateQueries({ predicate: (query) => mayPrecede(query, told.lastMs) && shows(query) });
  }

  private showing({ nodes, folders, sessions, isEverything: all }: Told): (query: Query) => boolean {
    const hasNewWaiting = this.takeWaiting(sessions);
    const homes = new Set([...sessions.values()].map(({ nodeId }) => nodeId));
    return ({ queryKey: [kind, id, part] }) => {
      switch (kind) {
        case 'graph':
        case 'events':
          return all || nodes.size > 0;
        case 'sync':
          return all || folders.size > 0;
        case 'membership':
          return all;
        case 'waiting':
          return hasNewWaiting;
        case 'sessions':
          return all || sessions.size > 0;
        case 'session':
          return all || sessions.has(String(id));
        case 'node':
          return (
            all ||
            concerns([kind, id], nodes) ||
            (AT_HOME.has(part) && homes.has(String(id))) ||
            (part === 'folder-state' && folders.has(String(id)))
          );
        default:
          return false;
      }
    };
  }

  /** Whether it is news which sessions wait: all open ones are told when the channel opens. */
  private takeWaiting(sessions: Told['sessions']): boolean {
    const news = [...sessions].filter(([id, { isWaiting }]) => isWaiting !== this.waiting.has(id));
    for (const [id, { isWaiting }] of news) {
      if (isWaiting) this.waiting.add(id);
      else this.waiting.delete(id);
    }
    return news.length > 0;
  }

  private settle(): void {
    clearTimeout(this.settling);
    this.isSettled = true;
    for (const listener of this.listeners) listener();
  }

  private tell(state: Connection): void {
    this.state = state;
    if (state === 'none') for (const listener of this.listeners) listener();
    else this.settle();
  }
}

/** Whether what is kept under a key shows one of these nodes: it is theirs, or a neighbour's. */
function concerns([, id]: readonly unknown[], ids: ReadonlySet<string>): boolean {
  if (typeof id !== 'string') return false;
  const edges = queries.getQueryData<Node>(['node', id, 'record'])?.edges.items ?? [];
  return ids.has(id) || edges.some(({ node }) => ids.has(node.id));
}

export const live = new Live();
noteQuestions();

/** Whether views may ask for what they show. */
export function useIsSettled(): boolean {
  return useSyncExternalStore(live.subscribe, () => live.isSettled);
}

/** Whether the page hears of changes. */
export function useConnection(): Connection {
  return useSyncExternalStore(live.subscribe, () => live.state);
}
