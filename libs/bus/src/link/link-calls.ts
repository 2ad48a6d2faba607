import type { Envelope, Operation } from '@workspace-graph/contracts';
import type { Outcome } from '../codec.js';
import { cancelled, shuttingDown, timedOut, unavailable, untold } from '../failures.js';
import { Underway } from '../underway.js';
import { LinkLost, type LinkPeer } from './link-peer.js';

/** For a connection that somebody needs to be made. */
const ATTEMPT_MS = 500;

export interface LinkCall {
  readonly operation: Operation;
  readonly body: string;
  readonly envelope: Envelope;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The calls of a device that wait for their answers, over as many connections as it takes. */
export class LinkCalls {
  private readonly waiting = new Underway<WaitingCall>();
  private peer: LinkPeer | null = null;
  private downAtMs = performance.now();

  constructor(
    private readonly graceMs: number,
    /** Has the link made soon. */
    private readonly hurry: () => void,
  ) {}

  /** Rejects with a ServiceError alone. */
  call(call: LinkCall): Promise<Outcome> {
    const waiting = new WaitingCall(call);
    const leave = this.waiting.add(waiting);
    waiting.outcome.then(leave, leave);
    if (this.peer) waiting.send(this.peer);
    else this.waitForLink(waiting);
    return waiting.outcome;
  }

  up(peer: LinkPeer): void {
    this.peer = peer;
    for (const waiting of this.waiting) waiting.send(peer);
  }

  down(): void {
    this.peer = null;
    this.downAtMs = performance.now();
    for (const waiting of this.waiting) waiting.waitForLink(this.graceMs);
  }

  /** Nobody can tell this caller any more what became of what was under way. */
  refused(): void {
    for (const waiting of this.waiting) waiting.refuse();
  }

  close(): void {
    for (const waiting of this.waiting) waiting.fail(shuttingDown());
  }

  /** After an outage that has lasted, nobody waits for as long again; an attempt that is made now may succeed. */
  private waitForLink(waiting: WaitingCall): void {
    const leftMs = this.graceMs - (performance.now() - this.downAtMs);
    waiting.waitForLink(Math.max(leftMs, Math.min(this.graceMs, ATTEMPT_MS)));
    this.hurry();
  }
}

class WaitingCall {
  readonly outcome: Promise<Outcome>;
  private readonly end = Promise.withResolvers<Outcome>();
  private readonly deadlineAtMs: number;
  private readonly deadline: NodeJS.Timeout;
  private grace: NodeJS.Timeout | undefined;
  private sent: { readonly peer: LinkPeer; readonly id: number } | null = null;
  private wasSent = false;

  constructor(private readonly call: LinkCall) {
    const { operation, timeoutMs, signal } = call;
    this.outcome = this.end.promise;
    this.deadlineAtMs = performance.now() + timeoutMs;
    // Whoever carries it out has the same deadline.
    this.deadline = setTimeout(() => this.fail(timedOut(operation, timeoutMs)), timeoutMs);
    signal?.addEventListener('abort', this.giveUp, { once: true });
  }

  send(peer: LinkPeer): void {
    clearTimeout(this.grace);
    const { operation, body, envelope } = this.call;
    const { callId: call_id, requestId: request_id, traceparent, caller } = envelope;
    const { id, outcome } = peer.ask(
      {
        kind: 'call',
        owner: operation.owner,
        operation: operation.name,
        call_id,
        request_id,
        ...(traceparent === undefined ? {} : { traceparent }),
        caller,
        timeout_ms: Math.max(0, Math.ceil(this.deadlineAtMs - performance.now())),
      },
      body,
    );
    this.sent = { peer, id };
    this.wasSent = true;
    outcome.then(
      (told) => this.settle(() => this.end.resolve(told)),
      (error: unknown) => {
        if (!(error instanceof LinkLost)) this.fail(error);
      },
    );
  }

  /** What may have been carried out is not given up before its time; a read changes nothing. */
  waitForLink(graceMs: number): void {
    this.sent = null;
    const { operation } = this.call;
    if (this.wasSent && !operation.readOnly) return;
    clearTimeout(this.grace);
    this.grace = setTimeout(() => this.fail(unavailable(operation.owner)), graceMs);
  }

  refuse(): void {
    if (this.wasSent && !this.sent) this.fail(untold(this.call.operation));
  }

  fail(error: unknown): void {
    this.settle(() => this.end.reject(error));
  }

  private readonly giveUp = (): void => {
    this.sent?.peer.tell({ kind: 'cancel', id: this.sent.id });
    this.fail(cancelled());
  };

  private settle(end: () => void): void {
    clearTimeout(this.deadline);
    clearTimeout(this.grace);
    this.call.signal?.removeEventListener('abort', this.giveUp);
    if (this.sent) this.sent.peer.forget(this.sent.id);
    end();
  }
}
