import type { Bus } from '@workspace-graph/bus';
import { LIMITS, listSessionStates, readSessionStates, serviceCaller } from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import { ask } from '../edge/index.js';
import type { LiveSocket } from './live-socket.js';
import { Viewers } from './viewers.js';

const SERVICE = serviceCaller('edge');
const AGAIN_MS = 500;

/**
 * Tells every socket the states of the sessions that its person sees: all open ones when it connects, and each again when
 * something of it changes. Changes of one moment are read together, each state with who sees it.
 */
export class SessionStates {
  private readonly due = new Set<string>();
  private sending: Promise<void> | null = null;
  private isStopped = false;

  constructor(
    private readonly bus: Pick<Bus, 'call'>,
    private readonly sockets: ReadonlySet<LiveSocket>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** Tells a socket the states of everything open. */
  async greet(socket: LiveSocket): Promise<void> {
    const caller = await socket.confirm();
    const { items } = await ask(this.bus, listSessionStates, {}, { caller, requestId: socket.admission.requestId });
    socket.together(() => {
      for (const state of items) socket.send('session_state', state);
    });
  }

  /** Something shown of a session has changed. */
  changed(sessionId: string): void {
    if (this.isStopped || this.sockets.size === 0) return;
    this.due.add(sessionId);
    this.sending ??= this.sendDue().finally(() => {
      this.sending = null;
    });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.due.clear();
    await this.sending;
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
      const text = JSON.stringify({ type: 'session_state', payload: state });
      for (const { socket, place } of sockets) if (seenBy.has(place)) this.hand(socket, state.session_id, text);
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
