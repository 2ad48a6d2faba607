import type { Bus } from '@workspace-graph/bus';
import { LIMITS, listSessionStates, type OutputOf, readSessionStates, serviceCaller } from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import { ask } from '../edge/index.js';
import type { LiveSocket } from './live-socket.js';
import { Viewers } from './viewers.js';

const SERVICE = serviceCaller('edge');
const AGAIN_MS = 500;
/** Users for whom everything open is read at the same time. */
const USERS_AT_ONCE = 4;

/** The frames with the states of what is open, by session. */
type Frames = ReadonlyMap<string, string>;

/**
 * Tells every socket the states of the sessions that its person sees: all open ones when it connects, and each again when
 * something of it changes. Changes of one moment are read together, each state with who sees it.
 */
export class SessionStates {
  private readonly due = new Set<string>();
  private sending: Promise<void> | null = null;
  /** Sockets that are to be told everything open, by their users. */
  private readonly newcomers = new Map<string, Set<LiveSocket>>();
  private greeting: Promise<void> | null = null;
  /** Sockets that have yet to be told everything open. */
  private readonly ungreeted = new Map<LiveSocket, PromiseWithResolvers<void>>();
  /** By newcomer that is read for: sessions whose newer state it was told meanwhile. */
  private readonly overtaken = new Map<LiveSocket, Set<string>>();
  private isStopped = false;

  constructor(
    private readonly bus: Pick<Bus, 'call'>,
    private readonly sockets: ReadonlySet<LiveSocket>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** Tells sockets the states of everything open; one that cannot be told is closed, and connects again. */
  greet(sockets: Iterable<LiveSocket>): void {
    if (this.isStopped) return;
    for (const socket of sockets) {
      const { user_id } = socket.caller;
      this.newcomers.set(user_id, (this.newcomers.get(user_id) ?? new Set()).add(socket));
      if (!this.ungreeted.has(socket)) this.ungreeted.set(socket, Promise.withResolvers());
    }
    this.greeting ??= this.greetAll();
  }

  /** Resolves once a socket was told everything open, or cannot be. */
  async greeted(socket: LiveSocket): Promise<void> {
    await this.ungreeted.get(socket)?.promise;
  }

  /** Something shown of a session has changed. */
  changed(sessionId: string): void {
    if (this.isStopped || this.sockets.size === 0) return;
    this.due.add(sessionId);
    this.sending ??= this.sendDue();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.due.clear();
    this.newcomers.clear();
    for (const socket of [...this.ungreeted.keys()]) this.settle(socket);
    await Promise.all([this.sending, this.greeting]);
  }

  private async greetAll(): Promise<void> {
    await Promise.resolve();
    while (this.newcomers.size > 0) {
      const users = [...this.newcomers].slice(0, USERS_AT_ONCE);
      for (const [userId] of users) this.newcomers.delete(userId);
      await this.greetTogether(users.flatMap(([, sockets]) => [...sockets]));
    }
    this.greeting = null;
  }

  /** What is read is for all sockets of one viewer. */
  private async greetTogether(sockets: readonly LiveSocket[]): Promise<void> {
    const viewers = new Viewers();
    const read: Promise<Frames>[] = [];
    const greetOne = async (socket: LiveSocket): Promise<void> => {
      if (!this.sockets.has(socket)) return;
      const overtaken = new Set<string>();
      this.overtaken.set(socket, overtaken);
      await socket.confirm();
      const place = viewers.placeOf(socket);
      read[place] ??= this.readOpen(socket);
      const frames = await read[place];
      socket.together(() => {
        for (const [id, text] of frames) if (!overtaken.has(id)) this.hand(socket, id, text);
      });
    };
    await Promise.all(
      sockets.map((socket) =>
        greetOne(socket)
          .catch((error: unknown) => this.turnAway(socket, error))
          .finally(() => this.settle(socket)),
      ),
    );
  }

  private settle(socket: LiveSocket): void {
    this.overtaken.delete(socket);
    this.ungreeted.get(socket)?.resolve();
    this.ungreeted.delete(socket);
  }

  private async readOpen({ caller, admission: { requestId } }: LiveSocket): Promise<Frames> {
    const { items } = await ask(this.bus, listSessionStates, {}, { caller, requestId });
    return new Map(items.map((state) => [state.session_id, frameOf(state)]));
  }

  private turnAway(socket: LiveSocket, error: unknown): void {
    this.logger.warn({ err: error }, 'states of sessions could not be read for a socket');
    // Without them the client would show what is not so: it tries again.
    socket.close(1013, 'try again');
  }

  private async sendDue(): Promise<void> {
    await Promise.resolve();
    while (this.due.size > 0) {
      const batch = [...this.due].slice(0, LIMITS.logsPerRead);
      for (const id of batch) this.due.delete(id);
      try {
        await this.sendBatch(batch);
      } catch (error) {
        this.logger.warn({ err: error }, 'states of sessions could not be read; trying again');
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS).unref());
        if (!this.isStopped) for (const id of batch) this.due.add(id);
      }
    }
    this.sending = null;
  }

  private async sendBatch(session_ids: string[]): Promise<void> {
    const viewers = new Viewers();
    const sockets = [...this.sockets].map((socket) => ({ socket, place: viewers.placeOf(socket) }));
    const { items } = await ask(
      this.bus,
      readSessionStates,
      { viewers: viewers.list, session_ids },
      { caller: SERVICE },
    );
    for (const { seen_by, ...state } of items) {
      const seenBy = new Set(seen_by);
      const text = frameOf(state);
      for (const { socket, place } of sockets) {
        if (!seenBy.has(place)) continue;
        this.overtaken.get(socket)?.add(state.session_id);
        this.hand(socket, state.session_id, text);
      }
    }
  }

  /** A socket that is full is told the state that holds once it takes frames again. */
  private hand(socket: LiveSocket, sessionId: string, text: string): void {
    if (!socket.isFull) return socket.sendText(text);
    const isFirst = socket.untold.size === 0;
    socket.untold.add(sessionId);
    if (isFirst) void socket.roomy().then(() => this.sendUntold(socket));
  }

  private sendUntold(socket: LiveSocket): void {
    const ids = [...socket.untold];
    socket.untold.clear();
    if (this.sockets.has(socket)) for (const id of ids) this.changed(id);
  }
}

function frameOf(state: OutputOf<typeof listSessionStates>['items'][number]): string {
  return JSON.stringify({ type: 'session_state', payload: state });
}
