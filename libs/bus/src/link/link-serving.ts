import type { Operation, Owner } from '@workspace-graph/contracts';
import type { BusLogger, Dispatch, Serving } from '../bus.js';
import { settle } from '../codec.js';
import { cancelled, shuttingDown } from '../failures.js';
import { Run } from '../run.js';
import type { BusSettings } from '../settings.js';
import { Underway } from '../underway.js';
import { Work } from '../work.js';
import type { FrameOf } from './frames.js';
import { type LinkPeer, unlessLost } from './link-peer.js';

/** A call that is being carried out. Its number is of the connection that it came over. */
interface Taken {
  readonly peer: LinkPeer;
  readonly id: number;
  readonly run: Run;
}

interface Host {
  readonly settings: BusSettings;
  readonly logger: BusLogger;
  readonly peer: () => LinkPeer | null;
}

/** How long aborted calls have to tell their end. */
const LAST_WORDS_MS = 1_000;

/** Operations that this end carries out for the other one, on as many connections as it takes. */
export class LinkServing implements Serving {
  private readonly byName: ReadonlyMap<string, Operation>;
  private readonly work = new Work();
  private readonly taken = new Underway<Taken>();
  /** Of the request that began it on this connection. */
  private id: number | null = null;
  private isPaused = false;
  private stopping: Promise<void> | undefined;

  constructor(
    readonly owner: Owner,
    operations: readonly Operation[],
    private readonly dispatch: Dispatch,
    private readonly host: Host,
  ) {
    this.byName = new Map(operations.map((operation) => [operation.name, operation]));
  }

  /**
   * Tells the other end, once on each connection. Resolves when calls can arrive, or at once while nobody can be reached.
   * @throws Error where it is forbidden
   */
  async begin(): Promise<void> {
    const peer = this.host.peer();
    this.id = null;
    if (!peer || this.isPaused || this.stopping !== undefined) return;
    const asked = peer.ask({ kind: 'serve', owner: this.owner, operations: [...this.byName.keys()] });
    this.id = asked.id;
    await asked.outcome.then(settle).catch(unlessLost);
  }

  takes({ owner, operation }: FrameOf<'call'>): boolean {
    return this.owner === owner && this.byName.has(operation);
  }

  take(head: FrameOf<'call'>, body: Uint8Array): void {
    const operation = this.byName.get(head.operation);
    const peer = this.host.peer();
    if (!operation || !peer) return;
    const { call_id: callId, request_id: requestId, traceparent, caller, timeout_ms: timeoutMs } = head;
    const envelope = { callId, requestId, caller, ...(traceparent === undefined ? {} : { traceparent }) };
    const taken = { peer, id: head.id, run: new Run(operation, envelope, timeoutMs) };
    this.work.add(this.answer(taken, body).finally(this.taken.add(taken)));
  }

  cancel({ id, stopping }: FrameOf<'cancel'>): void {
    const peer = this.host.peer();
    const reason = stopping ? shuttingDown() : cancelled();
    for (const taken of this.taken) if (taken.peer === peer && taken.id === id) taken.run.abort(reason);
  }

  async pause(): Promise<void> {
    this.isPaused = true;
    await this.end('pause');
  }

  async resume(): Promise<void> {
    if (!this.isPaused || this.stopping !== undefined) return;
    this.isPaused = false;
    if (this.id === null) await this.begin();
    else await this.end('resume');
  }

  stop(): Promise<void> {
    this.stopping ??= this.drain();
    return this.stopping;
  }

  /** Rejects never. */
  private async answer(taken: Taken, body: Uint8Array): Promise<void> {
    const { peer, id, run } = taken;
    const { settings, logger } = this.host;
    const text = new TextDecoder().decode(body);
    const outcome = await run.perform(this.dispatch, text, settings.replyBytes, logger);
    run.end();
    await peer.reply(id, outcome);
  }

  private async drain(): Promise<void> {
    await this.end('stop');
    if (await this.work.idle(this.host.settings.drainMs)) return;
    this.host.logger.warn(
      { owner: this.owner, calls: this.taken.size },
      'calls that did not end during the drain were aborted',
    );
    for (const { run } of this.taken) run.abort(shuttingDown());
    await this.work.idle(LAST_WORDS_MS);
  }

  private async end(kind: 'pause' | 'resume' | 'stop'): Promise<void> {
    const peer = this.host.peer();
    if (!peer || this.id === null) return;
    await peer.ask({ kind, serving: this.id }).outcome.then(settle).catch(unlessLost);
  }
}
