import { randomUUID } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import type { Envelope, Operation, ServiceError } from '@workspace-graph/contracts';
import type { Outcome } from '../codec.js';
import { cancelled, timedOut, unavailable } from '../failures.js';
import { Assembly } from './assembly.js';
import { envelopeFields, type Reply, readReply, requestHeaders } from './headers.js';
import { PROTOCOL } from './options.js';
import { SUBJECTS } from './subjects.js';

/** What a call needs of the place it is made from. */
export interface CallHost {
  readonly connected: boolean;
  readonly graceMs: number;
  /** Sends one attempt; its answers come back through `OutgoingCall.receive`. */
  send(attempt: {
    call: OutgoingCall;
    token: string;
    subject: string;
    body: string;
    headers: ReturnType<typeof requestHeaders>;
  }): void;
  /** Sends a message that nothing answers. */
  tell(subject: string, body: string): void;
  /** Nothing will be received under this token any more. */
  forget(token: string): void;
  done(call: OutgoingCall): void;
  note(call: OutgoingCall, what: string): void;
}

export interface OutgoingRequest {
  readonly operation: Operation;
  readonly body: string;
  readonly envelope: Envelope;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** One call, sent in as many attempts as its time allows, all under one call id. The first answer counts. */
export class OutgoingCall {
  readonly outcome: Promise<Outcome>;
  readonly subject: string;
  private readonly fields: Record<string, string>;
  /** Attempts that may have been received, each with the parts of its answer. */
  private readonly attempts = new Map<string, Assembly>();
  private readonly deadlineAtMs: number;
  private readonly deadline: NodeJS.Timeout;
  /** Ends a wait for a sign of life or the pause before the next attempt. */
  private timer: NodeJS.Timeout | undefined;
  private giveUpAtMs: number | undefined;
  private heard = false;
  private firstSignMs: number = PROTOCOL.firstSignMs;
  private pauseMs: number = PROTOCOL.retryFirstMs;
  private resolve!: (outcome: Outcome) => void;
  private reject!: (error: ServiceError) => void;

  constructor(
    readonly request: OutgoingRequest,
    private readonly host: CallHost,
  ) {
    const { operation, envelope, timeoutMs, signal } = request;
    this.subject = SUBJECTS.operation(operation);
    this.fields = envelopeFields(envelope);
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.deadlineAtMs = performance.now() + timeoutMs;
    this.deadline = setTimeout(() => this.fail(timedOut(operation, timeoutMs)), timeoutMs);
    signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  /** Sends an attempt, or waits for the connection. */
  send(): void {
    const leftMs = this.deadlineAtMs - performance.now();
    if (leftMs <= 0) return;
    if (!this.host.connected) return this.pause();
    const token = randomUUID();
    this.attempts.set(token, new Assembly());
    this.host.send({
      call: this,
      token,
      subject: this.subject,
      body: this.request.body,
      headers: requestHeaders(this.fields, leftMs),
    });
    this.expectSign(this.firstSignMs);
    this.firstSignMs *= 1.5;
  }

  /** The connection was lost: what was sent may have been received, what was to come is lost. */
  suspend(): void {
    for (const token of this.attempts.keys()) this.attempts.set(token, new Assembly());
    this.giveUpAtMs = undefined;
    this.pause();
  }

  receive(token: string, message: Msg): void {
    const reply = readReply(message.headers);
    switch (reply.kind) {
      case 'whole':
        return this.finish({ kind: reply.outcome, body: message.data });
      case 'alive':
        return this.acknowledged(PROTOCOL.silenceMs);
      case 'nobody':
        return this.refused(token);
      case 'part':
        return this.receivePart(token, message.data, reply);
      default:
        throw new Error(`unknown reply ${JSON.stringify(reply satisfies never)}`);
    }
  }

  fail(error: ServiceError): void {
    this.end();
    this.reject(error);
  }

  private readonly onAbort = (): void => {
    if (this.attempts.size > 0)
      this.host.tell(SUBJECTS.cancel(this.request.operation.owner), this.request.envelope.callId);
    this.fail(cancelled());
  };

  private receivePart(token: string, data: Uint8Array, part: Extract<Reply, { kind: 'part' }>): void {
    const assembly = this.attempts.get(token) ?? new Assembly();
    const state = assembly.add(data, part.index, part.count);
    if (state === 'complete') return this.finish({ kind: part.outcome, body: assembly.bytes() });
    if (state === 'broken') return this.startOver(token);
    this.host.tell(SUBJECTS.flow(part.from, token), String(assembly.received));
    this.acknowledged(PROTOCOL.partSilenceMs);
  }

  /** A part was lost. The instance is told to stop when the next one comes under a token that is void. */
  private startOver(token: string): void {
    this.drop(token);
    this.send();
  }

  private acknowledged(silenceMs: number): void {
    this.heard = true;
    this.giveUpAtMs = undefined;
    this.expectSign(silenceMs);
  }

  private expectSign(withinMs: number): void {
    this.setTimer(withinMs, () => {
      // Where this process itself was held up, the sign is there and only has to be read.
      const timer = this.timer;
      setImmediate(() => {
        if (timer !== this.timer) return;
        this.host.note(this, 'no sign of life; the call is sent again');
        this.send();
      });
    });
  }

  /** The broker knows of no instance that serves this operation. */
  private refused(token: string): void {
    this.drop(token);
    this.pause();
  }

  private drop(token: string): void {
    this.attempts.delete(token);
    this.host.forget(token);
  }

  /**
   * Waits before the next attempt. Before its deadline a call is given up only when nobody can have received it, or when
   * it is a read that gave no sign of life and nobody can be reached: what became of it matters to nobody.
   */
  private pause(): void {
    const nowMs = performance.now();
    this.giveUpAtMs ??= nowMs + this.host.graceMs;
    const { readOnly } = this.request.operation;
    const mayGiveUp = !this.heard && (this.attempts.size === 0 || (readOnly && !this.host.connected));
    if (mayGiveUp && nowMs >= this.giveUpAtMs) return this.fail(unavailable(this.request.operation.owner));
    const pauseMs = this.pauseMs * (0.5 + Math.random() / 2);
    this.pauseMs = Math.min(PROTOCOL.retryMaxMs, this.pauseMs * 2);
    this.setTimer(pauseMs, () => this.send());
  }

  private setTimer(ms: number, action: () => void): void {
    this.clearTimer();
    this.timer = setTimeout(action, ms);
  }

  private finish(outcome: Outcome): void {
    this.end();
    this.resolve(outcome);
  }

  private clearTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private end(): void {
    this.clearTimer();
    clearTimeout(this.deadline);
    this.request.signal?.removeEventListener('abort', this.onAbort);
    for (const token of this.attempts.keys()) this.host.forget(token);
    this.host.done(this);
  }
}
