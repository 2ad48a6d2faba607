import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Bus } from '@workspace-graph/bus';
import {
  LIMITS,
  listSessionEvents,
  type OutputOf,
  readSessionLogs,
  ServiceError,
  type SessionEvent,
  serviceCaller,
} from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import { ask } from '../edge/index.js';
import type { LiveSocket } from './live-socket.js';
import { Viewers } from './viewers.js';

/** One socket that follows one session. Every event up to `after` has been handed to it. */
interface Subscription {
  readonly socket: LiveSocket;
  readonly sessionId: string;
  after: number;
  /** False while it is catching up by itself. */
  isLive: boolean;
  isEnded: boolean;
}

/** What this process knows of a session that somebody here follows. */
interface Feed {
  readonly sessionId: string;
  /** Up to where it has been read for those who are live. */
  head: number;
  /** Up to where it is known to go. */
  told: number;
  readonly subscriptions: Map<LiveSocket, Subscription>;
}

/** Of a log. */
interface Page {
  readonly items: readonly SessionEvent[];
  readonly last_seq: number;
}

type Log = OutputOf<typeof readSessionLogs>['logs'][number];

const SERVICE = serviceCaller('edge');
const PAGE = 500;
/** Feeds that are looked at in one read: so much, what happens meanwhile waits for. */
const LOOKS_AT_ONCE = 50;
/** After a failure, until the next attempt. */
const AGAIN_MS = 500;

/**
 * Hands the logs of sessions to those who follow them: each event once, in order. A subscriber catches up by pages of its
 * own until it is where the feed is; then it is live, and shares what the feed reads, once for all. Who sees the session is
 * read in the same statement as its events, so nothing goes to somebody who has lost it.
 */
export class SessionFeeds {
  private readonly feeds = new Map<string, Feed>();
  /** Those of which something new is known. */
  private readonly due = new Set<Feed>();
  /** Those that are looked at in case something was missed. */
  private readonly unseen = new Set<Feed>();
  private pumping: Promise<void> | null = null;
  private isStopped = false;

  constructor(
    private readonly bus: Pick<Bus, 'call'>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  get size(): number {
    return this.feeds.size;
  }

  /**
   * Begins to follow a session; `begun` is called with the seq of its last event before the first event is sent.
   * Following it again begins anew.
   * @throws ServiceError SESSION_NOT_FOUND
   */
  async subscribe(
    socket: LiveSocket,
    { session_id: sessionId, after }: { readonly session_id: string; readonly after: number },
    begun: (lastSeq: number) => void,
  ): Promise<void> {
    this.unsubscribe(socket, sessionId);
    // One that has closed meanwhile has been forgotten already.
    if (!socket.isOpen) return;
    const feed = this.feeds.get(sessionId) ?? { sessionId, head: 0, told: 0, subscriptions: new Map() };
    const subscription: Subscription = { socket, sessionId, after, isLive: false, isEnded: false };
    this.feeds.set(sessionId, feed);
    feed.subscriptions.set(socket, subscription);
    socket.following.add(sessionId);
    try {
      const first = await this.page(subscription);
      begun(first.last_seq);
      socket.together(() => this.hand(subscription, first.items));
      if (!subscription.isEnded) void this.catchUp(feed, subscription, first.last_seq);
    } catch (error) {
      this.end(feed, subscription);
      throw error;
    }
  }

  unsubscribe(socket: LiveSocket, sessionId: string): void {
    const feed = this.feeds.get(sessionId);
    const subscription = feed?.subscriptions.get(socket);
    if (feed && subscription) this.end(feed, subscription);
  }

  /** A socket is closed. */
  forget(socket: LiveSocket): void {
    for (const sessionId of [...socket.following]) this.unsubscribe(socket, sessionId);
  }

  /** A log has grown. */
  grown(sessionId: string, lastSeq: number): void {
    const feed = this.feeds.get(sessionId);
    if (!feed || lastSeq <= feed.told) return;
    feed.told = lastSeq;
    this.schedule(feed);
  }

  /** Hands on what an agent is writing, to those who are live and keep up. */
  delta(delta: { readonly session_id: string; readonly run_id: string; readonly text: string }): void {
    const feed = this.feeds.get(delta.session_id);
    if (!feed) return;
    const text = JSON.stringify({ type: 'delta', payload: delta });
    for (const { socket, isLive } of feed.subscriptions.values()) if (isLive && !socket.isFull) socket.sendText(text);
  }

  /** Reads all feeds: something may have happened unheard, or somebody may have lost sight. */
  lookAgain(): void {
    for (const feed of this.feeds.values()) this.schedule(feed, this.unseen);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.due.clear();
    this.unseen.clear();
    await this.pumping;
  }

  private schedule(feed: Feed, among = this.due): void {
    if (this.isStopped || !hasLive(feed)) return;
    among.add(feed);
    this.pumping ??= this.pump().finally(() => {
      this.pumping = null;
    });
  }

  /** Reads what is due, a batch at a time, for as long as something is. */
  private async pump(): Promise<void> {
    // What arrives in the same moment is read together.
    await Promise.resolve();
    for (let batch = this.nextBatch(); batch.length > 0; batch = this.nextBatch()) {
      try {
        await this.read(batch);
      } catch (error) {
        this.logger.warn({ err: error }, 'sessions could not be read for their followers; trying again');
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS).unref());
        if (!this.isStopped) for (const feed of batch) this.due.add(feed);
      }
    }
  }

  /** What has grown comes first; some of the rest goes along, also while something always grows. */
  private nextBatch(): Feed[] {
    const grown = [...this.due].slice(0, LIMITS.logsPerRead - LOOKS_AT_ONCE);
    const looks = [...this.unseen].filter((feed) => !this.due.has(feed)).slice(0, LOOKS_AT_ONCE);
    const batch = [...grown, ...looks];
    for (const feed of batch) this.forgetDue(feed);
    return batch;
  }

  private forgetDue(feed: Feed): void {
    this.due.delete(feed);
    this.unseen.delete(feed);
  }

  private async read(batch: readonly Feed[]): Promise<void> {
    const viewers = new Viewers();
    const asked = batch.flatMap((feed) => {
      const live = [...feed.subscriptions.values()].filter(({ isLive }) => isLive);
      const places = [...new Set(live.map(({ socket }) => viewers.placeOf(socket)))];
      return live.length > 0
        ? [{ feed, live, session: { session_id: feed.sessionId, after: feed.head, viewers: places } }]
        : [];
    });
    if (asked.length === 0) return;
    const input = { viewers: viewers.list, sessions: asked.map(({ session }) => session), limit: PAGE };
    const { logs } = await ask(this.bus, readSessionLogs, input, { caller: SERVICE });
    const byId = new Map(logs.map((log) => [log.session_id, log]));
    for (const { feed, live } of asked) this.spread(feed, live, byId.get(feed.sessionId), viewers);
  }

  private spread(feed: Feed, live: readonly Subscription[], log: Log | undefined, viewers: Viewers): void {
    const seenBy = new Set(log?.seen_by);
    const items = (log?.items ?? []) as unknown as readonly SessionEvent[];
    const frames = items.map((event) => ({ seq: event.seq, text: frameOf(event), isShared: isShared(event) }));
    for (const subscription of live) {
      if (subscription.isEnded) continue;
      if (seenBy.has(viewers.placeOf(subscription.socket)))
        subscription.socket.together(() => this.handLive(feed, subscription, frames));
      else this.lose(feed, subscription);
    }
    if (!log) return;
    feed.head = Math.max(feed.head, items.at(-1)?.seq ?? 0);
    this.fetchLeftBehind(feed);
    feed.told = Math.max(feed.told, log.last_seq);
    if (feed.head < feed.told) this.schedule(feed);
  }

  /** Those who joined while the feed was reading what they had not yet. */
  private fetchLeftBehind(feed: Feed): void {
    for (const subscription of feed.subscriptions.values()) {
      if (!subscription.isLive || subscription.after >= feed.head) continue;
      subscription.isLive = false;
      void this.catchUp(feed, subscription, feed.head);
    }
  }

  private handLive(
    feed: Feed,
    subscription: Subscription,
    frames: readonly { readonly seq: number; readonly text: string; readonly isShared: boolean }[],
  ): void {
    const { socket } = subscription;
    for (const { seq, text, isShared } of frames) {
      if (seq <= subscription.after) continue;
      if (socket.isFull || !isShared || seq !== subscription.after + 1) {
        subscription.isLive = false;
        void this.catchUp(feed, subscription, feed.told);
        return;
      }
      socket.sendText(text);
      subscription.after = seq;
    }
  }

  /** Pages of its own, at the pace of its client, until nothing is left that the feed has not. */
  private async catchUp(feed: Feed, subscription: Subscription, lastSeq: number): Promise<void> {
    const { socket } = subscription;
    let known = lastSeq;
    let ahead: Promise<Page> | null = null;
    try {
      while (!subscription.isEnded) {
        // What was read ahead is not kept for a client that has to be waited for: it may see less by then.
        if (socket.isFull) ahead = null;
        await socket.roomy();
        if (subscription.isEnded) return;
        if (subscription.after >= Math.max(known, feed.told)) return this.join(feed, subscription);
        const page: Page = await (ahead ?? this.page(subscription));
        ahead = this.readAhead(subscription, page);
        // Its query is on its way before the frames of this page take their time.
        if (ahead !== null) await nextTurn();
        socket.together(() => this.hand(subscription, page.items));
        known = page.last_seq;
        feed.told = Math.max(feed.told, known);
      }
    } catch (error) {
      if (isLost(error)) return this.lose(feed, subscription);
      this.logger.warn({ err: error }, 'a log could not be read for a follower; trying again');
      setTimeout(() => void this.catchUp(feed, subscription, known), AGAIN_MS).unref();
    }
  }

  /** Lets the database read the page after this one while this one is handed over, where the client keeps up. */
  private readAhead(subscription: Subscription, { items, last_seq }: Page): Promise<Page> | null {
    const after = items.at(-1)?.seq ?? last_seq;
    if (after >= last_seq || subscription.socket.unsentBytes > 0) return null;
    const page = this.page({ ...subscription, after });
    // Whoever waits for it hears of its failure; nobody may.
    page.catch(() => undefined);
    return page;
  }

  /** From here on the feed reads for it. What it is ahead of the feed by, it leaves out. */
  private join(feed: Feed, subscription: Subscription): void {
    if (!hasLive(feed)) feed.head = subscription.after;
    subscription.isLive = true;
    if (feed.head < feed.told) this.schedule(feed);
  }

  private async page({ socket, sessionId, after }: Omit<Subscription, 'isLive' | 'isEnded'>): Promise<Page> {
    const caller = await socket.confirm();
    const input = { session_id: sessionId, after, limit: PAGE };
    const page = await ask(this.bus, listSessionEvents, input, { caller, requestId: socket.admission.requestId });
    return page as unknown as Page;
  }

  private hand(subscription: Subscription, items: readonly SessionEvent[]): void {
    for (const event of items) {
      if (subscription.isEnded || event.seq <= subscription.after) continue;
      subscription.socket.sendText(frameOf(event));
      subscription.after = event.seq;
    }
  }

  /** Tells a subscriber that the session is not there for it any more, and ends the subscription. */
  private lose(feed: Feed, subscription: Subscription): void {
    this.end(feed, subscription);
    const { sessionId: session_id, socket } = subscription;
    socket.refuse(
      undefined,
      new ServiceError('SESSION_NOT_FOUND', `There is no session ${session_id} that you may see.`, { session_id }),
    );
  }

  private end(feed: Feed, subscription: Subscription): void {
    subscription.isEnded = true;
    const { socket, sessionId } = subscription;
    if (feed.subscriptions.get(socket) !== subscription) return;
    feed.subscriptions.delete(socket);
    socket.following.delete(sessionId);
    if (feed.subscriptions.size === 0) {
      this.feeds.delete(sessionId);
      this.forgetDue(feed);
    }
  }
}

function hasLive({ subscriptions }: Feed): boolean {
  return [...subscriptions.values()].some(({ isLive }) => isLive);
}

/** Whether it says the same to everybody: which nodes a scope has gained depends on who asks. */
function isShared({ kind }: SessionEvent): boolean {
  return kind !== 'scope_changed';
}

function frameOf(event: SessionEvent): string {
  return JSON.stringify({ type: 'event', payload: { session_id: event.session_id, event } });
}

/** Refusals after which trying again is of no use. */
function isLost(error: unknown): boolean {
  return error instanceof ServiceError && !error.retryable && error.code !== 'INTERNAL';
}
