import { randomUUID } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import type { Envelope, Operation, Owner, ServiceError } from '@workspace-graph/contracts';
import { type Outcome, refusalOf } from '../codec.js';
import { cancelled, timedOut, unavailable } from '../failures.js';
import { Assembly } from './assembly.js';
import { envelopeFields, type Reply, readReply, requestHeaders } from './headers.js';
import { PROTOCOL } from './options.js';
import { type InstanceAddress, SUBJECTS } from './subjects.js';

/** What a call needs of the place it is made from. */
export interface CallHost {
  readonly connected: boolean;
  readonly graceMs: number;
  /** Sends one attempt, or a search without headers; its answers come back through `OutgoingCall.receive`. */
  send(attempt: {
    call: OutgoingCall;
    token: string;
    subject: string;
    body: string;
    headers?: ReturnType<typeof requestHeaders>;
  }): void;
  /** Sends a message that nothing answers. */
  publish(subject: string, body: string): void;
  /** The instance to send to; undefined for any. */
  choose(owner: Owner): InstanceAddress | undefined;
  /** Another instance than this one is silent: calls of its owner go to those that are there, for a while. */
  bypassFor(instance: InstanceAddress): void;
  /** This instance does not take calls. */
  avoid(instance: InstanceAddress): void;
  /** Nothing will be received under this token any more. */
  forget(token: string): void;
  note(call: OutgoingCall, what: string): void;
}

export interface OutgoingRequest {
  readonly operation: Operation;
  readonly body: string;
  readonly envelope: Envelope;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

interface Attempt {
  /** Undefined when the broker chose. */
  readonly instance: InstanceAddress | undefined;
  /** The parts of its answer. */
  readonly parts: Assembly;
}

/** One call, sent in as many attempts as its time allows, all under one call id. The first answer counts. */
export class OutgoingCall {
  readonly outcome: Promise<Outcome>;
  readonly subject: string;
  /** Called once it is over. */
  onEnd: () => void = () => undefined;
  private readonly fields: Record<string, string>;
  /** Attempts that may have been received. */
  private readonly attempts = new Map<string, Attempt>();
  /** The instance that the last attempt was for. */
  private asked: InstanceAddress | undefined;
  /** Token of the question which instances are there, while it is open. */
  private search: string | undefined;
  /** Why another instance is looked for: nothing was heard of the call, or it was declined. */
  private isSilent = false;
  /** Ids of the instances that declined this call since it was last sent to any of them. */
  private readonly declinedBy = new Set<string>();
  private refusal: ServiceError | undefined;
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

  /** Sends an attempt to the instance of the host's choice, or waits for the connection. */
  send(): void {
    this.endSearch();
    if (!this.host.connected) return this.pause();
    this.sendTo(this.host.choose(this.request.operation.owner));
  }

  /** The connection was lost: what was sent may have been received, what was to come is lost. */
  suspend(): void {
    for (const token of this.attempts.keys()) this.attempts.set(token, { instance: undefined, parts: new Assembly() });
    this.endSearch();
    this.giveUpAtMs = undefined;
    this.pause();
  }

  receive(token: string, message: Msg): void {
    const reply = readReply(message.headers);
    switch (reply.kind) {
      case 'whole':
        return this.finish({ ...reply.outcome, body: message.data });
      case 'alive':
        return this.acknowledged(PROTOCOL.silenceMs);
      case 'nobody':
        return this.refused(token);
      case 'here':
        return this.found(token, reply.from);
      case 'declined':
        return this.declined(token, reply.from, message.data);
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

  private sendTo(instance: InstanceAddress | undefined): void {
    const leftMs = this.deadlineAtMs - performance.now();
    if (leftMs <= 0) return;
    const token = randomUUID();
    this.asked = instance;
    this.attempts.set(token, { instance, parts: new Assembly() });
    const subject = instance ? SUBJECTS.direct(instance, this.request.operation.name) : this.subject;
    const headers = requestHeaders(this.fields, leftMs);
    this.host.send({ call: this, token, subject, body: this.request.body, headers });
    this.expectSign(this.firstSignMs);
    this.firstSignMs *= 1.5;
  }

  /** Asks which instances are there: the broker would go on handing calls to one that is frozen. */
  private lookElsewhere(): void {
    this.endSearch();
    if (!this.host.connected) return this.pause();
    const { owner, name } = this.request.operation;
    const token = randomUUID();
    this.search = token;
    this.host.send({ call: this, token, subject: SUBJECTS.find(owner), body: name });
    this.waitFor(PROTOCOL.findMs, () => this.sendToAny());
  }

  private found(token: string, instance: InstanceAddress): void {
    if (token !== this.search || this.declinedBy.has(instance.id)) return;
    this.endSearch();
    if (this.isSilent) this.host.bypassFor(instance);
    this.sendTo(instance);
  }

  /** Nobody else is there: who declined the call may take it now. */
  private sendToAny(): void {
    this.declinedBy.clear();
    this.send();
  }

  private endSearch(): void {
    if (this.search !== undefined) this.host.forget(this.search);
    this.search = undefined;
  }

  private declined(token: string, instance: InstanceAddress, error: Uint8Array): void {
    this.drop(token);
    this.host.avoid(instance);
    this.declinedBy.add(instance.id);
    this.refusal = refusalOf(error);
    this.isSilent = false;
    if (this.attempts.size === 0) this.heard = false;
    if (!this.givesUp()) this.lookElsewhere();
  }

  private readonly onAbort = (): void => {
    if (this.attempts.size > 0) this.cancelElsewhere();
    this.fail(cancelled());
  };

  private cancelElsewhere(): void {
    this.host.publish(SUBJECTS.cancel(this.request.operation.owner), this.request.envelope.callId);
  }

  private receivePart(token: string, data: Uint8Array, part: Extract<Reply, { kind: 'part' }>): void {
    const parts = this.attempts.get(token)?.parts ?? new Assembly();
    const state = parts.add(data, part.index, part.count);
    if (state === 'complete') return this.finish({ ...part.outcome, body: parts.bytes() });
    if (state === 'broken') return this.startOver(token);
    this.host.publish(SUBJECTS.flow(part.from, token), String(parts.received));
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
    this.waitFor(withinMs, () => {
      this.host.note(this, 'no heartbeat; the call is sent again');
      if (this.asked) this.host.avoid(this.asked);
      this.isSilent = true;
      this.lookElsewhere();
    });
  }

  /** Acts when nothing arrives for so long. */
  private waitFor(ms: number, action: () => void): void {
    this.setTimer(ms, () => {
      // Where this process itself was held up, what is awaited is there and only has to be read.
      const timer = this.timer;
      setImmediate(() => {
        if (timer === this.timer) action();
      });
    });
  }

  /** The broker knows of no instance that serves this operation, or that hears the search. */
  private refused(token: string): void {
    if (token === this.search) return this.sendToAny();
    const instance = this.attempts.get(token)?.instance;
    if (instance) this.host.avoid(instance);
    this.drop(token);
    this.pause();
  }

  private drop(token: string): void {
    this.attempts.delete(token);
    this.host.forget(token);
  }

  /**
   * Fails the call when its grace is over. Before its deadline a call is given up only when nobody can have received it,
   * or when it is a read that gave no sign of life and nobody can be reached: what became of it matters to nobody.
   */
  private givesUp(): boolean {
    const nowMs = performance.now();
    this.giveUpAtMs ??= nowMs + this.host.graceMs;
    const { readOnly, owner } = this.request.operation;
    const mayGiveUp = !this.heard && (this.attempts.size === 0 || (readOnly && !this.host.connected));
    if (!mayGiveUp || nowMs < this.giveUpAtMs) return false;
    this.fail(this.refusal ?? unavailable(owner));
    return true;
  }

  /** Waits before the next attempt. */
  private pause(): void {
    if (this.givesUp()) return;
    const pauseMs = this.pauseMs * (0.5 + Math.random() / 2);
    this.pauseMs = Math.min(PROTOCOL.retryMaxMs, this.pauseMs * 2);
    this.setTimer(pauseMs, () => this.send());
  }

  private setTimer(ms: number, action: () => void): void {
    this.clearTimer();
    this.timer = setTimeout(action, ms);
  }

  private finish(outcome: Outcome): void {
    // Whoever has it too works for nobody any more.
    if (this.attempts.size > 1) this.cancelElsewhere();
    this.end();
    this.resolve(outcome);
  }

  private clearTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private end(): void {
    this.clearTimer();
    this.endSearch();
    clearTimeout(this.deadline);
    this.request.signal?.removeEventListener('abort', this.onAbort);
    for (const token of this.attempts.keys()) this.host.forget(token);
    this.onEnd();
  }
}
