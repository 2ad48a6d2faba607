import type { Bus, Subscription } from '@workspace-graph/bus';
import type { Logger } from '@workspace-graph/platform';
import { type EdgeAuthenticator, type EndedCredential, endsFor } from '../edge/authenticator.js';
import { ChangeWatch } from './change-watch.js';
import { Heartbeat } from './heartbeat.js';
import { CLOSE_CODES, type LiveSocket } from './live-socket.js';
import { SessionFeeds } from './session-feeds.js';
import { SessionStates } from './session-states.js';
import { UpgradeServer } from './upgrade-server.js';

const TICK_MS = 1_000;
/** An event that was lost on the way is made good after so long. */
const LOOK_MS = 5_000;
/** What changes of the access of users within this time is one change to their sockets. */
const GATHER_MS = 250;

export interface LiveChannelParts {
  readonly bus: Pick<Bus, 'call' | 'subscribe' | 'onStatus'>;
  readonly authenticator: Pick<EdgeAuthenticator, 'onEnded'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** How often clients are asked whether they are there. Default 30,000. */
  readonly pingMs?: number;
  /** Whether folders of nodes are in this process. Default: false. */
  readonly hasFolders?: boolean;
}

/** The sockets of this process, and what is passed on to them. */
export class LiveChannel {
  /** Completes the handshakes. */
  readonly upgrades = new UpgradeServer();
  readonly sockets = new Set<LiveSocket>();
  readonly feeds: SessionFeeds;
  readonly states: SessionStates;
  readonly changes: ChangeWatch;
  private readonly heartbeat: Heartbeat;
  private subscriptions: readonly Subscription[] = [];
  private readonly stops: (() => void)[] = [];
  /** Users who may see other sessions than before, and have not been told of them. */
  private readonly seeingMore = new Set<string>();
  private gathering: NodeJS.Timeout | undefined;

  constructor(private readonly parts: LiveChannelParts) {
    const { bus, logger, pingMs } = parts;
    this.feeds = new SessionFeeds(bus, logger);
    this.states = new SessionStates(bus, this.sockets, logger);
    this.changes = new ChangeWatch(bus, logger);
    this.heartbeat = new Heartbeat(pingMs);
  }

  async start(): Promise<void> {
    const { bus, authenticator } = this.parts;
    const { feeds, changes, heartbeat } = this;
    changes.start();
    heartbeat.start();
    this.subscriptions = await this.listen();
    const timers = [
      setInterval(() => this.endExpired(Date.now()), TICK_MS),
      setInterval(() => feeds.lookAgain(), LOOK_MS),
    ];
    this.stops.push(
      () => heartbeat.stop(),
      authenticator.onEnded((ended) => this.revoke(ended)),
      // Events may have been missed while nobody could be reached.
      bus.onStatus((status) => {
        if (status === 'ready') this.lookAgain();
      }),
      ...timers.map((timer) => () => clearInterval(timer.unref())),
    );
  }

  /** A socket is open: it is told the states of sessions. */
  opened(socket: LiveSocket): void {
    this.sockets.add(socket);
    this.heartbeat.add(socket.socket);
    // What breaks a connection closes it; there is nobody to tell.
    socket.socket.on('error', () => undefined);
    this.states.greet([socket]);
  }

  closed(socket: LiveSocket): void {
    this.sockets.delete(socket);
    this.feeds.forget(socket);
    this.changes.forget(socket);
    socket.ended();
  }

  /** Closes every socket; clients connect elsewhere and go on after the last seq that they saw. */
  async stop(): Promise<void> {
    for (const stop of this.stops.splice(0)) stop();
    clearTimeout(this.gathering);
    await Promise.all(this.subscriptions.map((subscription) => subscription.stop()));
    for (const socket of this.sockets) socket.close(CLOSE_CODES.leaving, 'the service stops');
    await Promise.all([this.feeds.stop(), this.states.stop(), this.changes.stop()]);
    for (const socket of this.sockets) socket.socket.terminate();
  }

  private async listen(): Promise<Subscription[]> {
    const { bus, hasFolders = false } = this.parts;
    const { feeds, states, changes } = this;
    const sessions = await bus.subscribe(
      ['session.appended', 'session.changed', 'session.delta', 'access.changed'],
      (event) => {
        if (event.type === 'session.appended') feeds.grown(event.payload.session_id, event.payload.last_seq);
        else if (event.type === 'session.changed') states.changed(event.payload.session_id);
        else if (event.type === 'session.delta') feeds.delta(event.payload);
        else {
          feeds.lookAgain();
          this.seeAnew(event.payload.user_ids ?? []);
        }
      },
    );
    const graph = await bus.subscribe(['graph.changed', 'file.changed', 'access.changed'], (event) =>
      changes.heard(event),
    );
    if (!hasFolders) return [sessions, graph];
    return [sessions, graph, await bus.subscribe(['sync.changed'], (event) => changes.heard(event))];
  }

  /** Tells users the states of the sessions that they see now. */
  private seeAnew(userIds: readonly string[]): void {
    for (const id of userIds) this.seeingMore.add(id);
    this.gathering ??= setTimeout(() => {
      this.gathering = undefined;
      this.states.greet([...this.sockets].filter(({ caller }) => this.seeingMore.has(caller.user_id)));
      this.seeingMore.clear();
    }, GATHER_MS).unref();
  }

  private lookAgain(): void {
    this.feeds.lookAgain();
    this.changes.lookAgain();
    this.states.greet(this.sockets);
  }

  private revoke(ended: EndedCredential): void {
    for (const socket of this.sockets) if (endsFor(ended, socket.caller)) this.cutOff(socket);
  }

  private endExpired(nowMs: number): void {
    for (const socket of this.sockets) if (socket.expiresAtMs <= nowMs) this.cutOff(socket);
  }

  /** Nothing more goes out, also not what the system still holds. */
  private cutOff(socket: LiveSocket): void {
    this.closed(socket);
    socket.close(CLOSE_CODES.revoked, 'the credential has ended');
    setTimeout(() => socket.socket.terminate(), TICK_MS / 2).unref();
  }
}
