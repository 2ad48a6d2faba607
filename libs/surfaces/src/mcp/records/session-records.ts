import { hash, randomUUID } from 'node:crypto';
import type { Bus } from '@workspace-graph/bus';
import {
  type Caller,
  connectSession,
  endRun,
  type InputOf,
  LIMITS,
  type OutputOf,
  renewRuns,
  ServiceError,
  type SessionClient,
  type SuspendReason,
  serviceCaller,
} from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import { ask } from '../../edge/index.js';
import type { Program } from '../connection.js';

/** An agent as a request shows it. */
export interface Agent {
  readonly caller: Caller;
  readonly client: SessionClient;
  /** The session that its address names; without one, a session is made. */
  readonly sessionId: string | null;
  readonly program: Program;
  /** Whether it keeps a connection; else its requests are told by what they have in common. */
  readonly isConnected: boolean;
}

/** What is known of one agent's session. */
interface Kept {
  readonly sessionId: string;
  /** Null where a runner holds the run. */
  readonly runId: string | null;
  readonly caller: Caller;
  readonly isConnected: boolean;
  usedAtMs: number;
}

const RENEW_MS = 10_000;
const FORGOTTEN_MS = 31 * 60_000;

/**
 * Keeps the records of the agents that are connected here: each has its session from the moment that its handshake is
 * complete, and the session is suspended when the agent is gone.
 */
export class SessionRecords {
  private readonly holder = randomUUID();
  private readonly kept = new Map<string, Kept>();
  private readonly opening = new Map<string, Promise<Kept>>();
  /** Sessions that were suspended here because their client had gone, to go on with when it is back. */
  private readonly left = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;
  private endSubscription: (() => Promise<void>) | undefined;
  private readonly endListeners = new Set<(key: string) => void>();

  constructor(
    private readonly bus: Pick<Bus, 'call' | 'subscribe'>,
    private readonly logger: Pick<Logger, 'debug'>,
  ) {}

  async start(): Promise<void> {
    this.timer = setInterval(() => void this.renew(), RENEW_MS).unref();
    const subscription = await this.bus.subscribe(['session.changed'], ({ payload }) => {
      // Somebody may have suspended or closed it.
      if ([...this.kept.values()].some(({ sessionId }) => sessionId === payload.session_id)) void this.renew();
    });
    this.endSubscription = () => subscription.stop();
  }

  /** Suspends what is connected here; agents without a connection go on elsewhere, or lose their lease. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.endSubscription?.();
    const connected = [...this.kept].filter(([, { isConnected }]) => isConnected);
    await Promise.all(connected.map(([key]) => this.end(key, 'server_restart')));
  }

  /** Tells the key of each agent whose session somebody has ended. Returns the function that ends listening. */
  onEnded(listener: (key: string) => void): () => void {
    this.endListeners.add(listener);
    return () => void this.endListeners.delete(listener);
  }

  /**
   * The session of an agent, which goes on or begins. Requests at the same time share it.
   * @throws ServiceError of connect_session
   */
  async use(key: string, agent: Agent): Promise<string> {
    const known = this.kept.get(key);
    if (known) {
      known.usedAtMs = performance.now();
      return known.sessionId;
    }
    const underWay = this.opening.get(key) ?? this.open(key, agent);
    return (await underWay).sessionId;
  }

  /** The agent is gone. Its session is suspended, and goes on should it come back under the same key. */
  async end(key: string, reason: SuspendReason, comesBack = false): Promise<void> {
    await this.opening.get(key)?.catch(() => undefined);
    const kept = this.kept.get(key);
    this.kept.delete(key);
    if (!comesBack) this.left.delete(key);
    if (!kept?.runId) return;
    if (comesBack) this.left.set(key, kept.sessionId);
    const { sessionId: session_id, runId: run_id, caller } = kept;
    const input = {
      session_id,
      run_id,
      outcome: 'suspended' as const,
      reason,
      can_continue: reason !== 'server_restart',
    };
    // What cannot be told now, the lease of the run tells later.
    await ask(this.bus, endRun, input, { caller }).catch((error: unknown) =>
      this.logger.debug({ err: error }, 'the end of a run was not recorded'),
    );
  }

  /** Ends those of some callers, whose credential has ended. */
  async endWhere(matches: (caller: Caller) => boolean): Promise<void> {
    const keys = [...this.kept].flatMap(([key, { caller }]) => (matches(caller) ? [key] : []));
    await Promise.all(keys.map((key) => this.end(key, 'disconnect')));
  }

  private open(key: string, agent: Agent): Promise<Kept> {
    const opening = this.connect(key, agent).finally(() => this.opening.delete(key));
    this.opening.set(key, opening);
    return opening;
  }

  private async connect(key: string, agent: Agent): Promise<Kept> {
    const left = agent.sessionId === null ? this.left.get(key) : undefined;
    this.left.delete(key);
    const answer = left === undefined ? await this.ask(key, agent) : await this.goOn(key, agent, left);
    const { caller, isConnected } = agent;
    const kept = {
      sessionId: answer.session.id,
      runId: answer.run_id,
      caller,
      isConnected,
      usedAtMs: performance.now(),
    };
    this.kept.set(key, kept);
    return kept;
  }

  /** Goes on with the session that was left; when that is over, a new one begins. */
  private async goOn(key: string, agent: Agent, sessionId: string): Promise<OutputOf<typeof connectSession>> {
    try {
      return await this.ask(key, { ...agent, sessionId });
    } catch (error) {
      if (error instanceof ServiceError && error.retryable) throw error;
      return this.ask(key, agent);
    }
  }

  private ask(
    key: string,
    { caller, client, isConnected, sessionId, program }: Agent,
  ): Promise<OutputOf<typeof connectSession>> {
    const input: InputOf<typeof connectSession> = {
      run_id: randomUUID(),
      holder: this.holder,
      client,
      instance_id: program.instanceId,
      terminal_id: program.terminalId,
    };
    if (sessionId !== null) input.session_id = sessionId;
    else if (caller.home_node_id) input.node_id = caller.home_node_id;
    if (!isConnected) input.binding = hash('sha256', key, 'hex');
    return ask(this.bus, connectSession, input, { caller });
  }

  /** Keeps the runs that are held here; those that have ended meanwhile are forgotten, and their agents told. */
  private async renew(): Promise<void> {
    // What no request has come for is left to whoever has seen one, or to the sweep.
    for (const [key, { isConnected, usedAtMs }] of this.kept)
      if (!isConnected && performance.now() - usedAtMs > FORGOTTEN_MS) this.kept.delete(key);
    const held = [...this.kept].flatMap(([key, { runId, usedAtMs }]) => (runId ? [{ key, runId, usedAtMs }] : []));
    for (let start = 0; start < held.length; start += LIMITS.runsPerCall) {
      const part = held.slice(start, start + LIMITS.runsPerCall);
      const runs = part.map(({ runId, usedAtMs }) => ({
        run_id: runId,
        idle_ms: Math.floor(performance.now() - usedAtMs),
      }));
      try {
        const { ended } = await ask(
          this.bus,
          renewRuns,
          { holder: this.holder, runs },
          { caller: serviceCaller('edge') },
        );
        const gone = new Set(ended);
        for (const { key, runId } of part) if (gone.has(runId)) this.forget(key, runId);
      } catch (error) {
        this.logger.debug({ err: error }, 'leases of runs were not renewed');
      }
    }
  }

  private forget(key: string, runId: string): void {
    if (this.kept.get(key)?.runId !== runId) return;
    this.kept.delete(key);
    for (const listener of this.endListeners) listener(key);
  }
}
