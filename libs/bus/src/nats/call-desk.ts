import { randomUUID } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import type { Owner } from '@workspace-graph/contracts';
import type { BusLogger } from '../bus.js';
import type { Outcome } from '../codec.js';
import { shuttingDown, unavailable } from '../failures.js';
import { Underway, UnderwayByKey } from '../underway.js';
import { Detours } from './detours.js';
import { readReply } from './headers.js';
import type { NatsLink, Refusal } from './link.js';
import { type CallHost, OutgoingCall, type OutgoingRequest } from './outgoing-call.js';
import { type InstanceAddress, SUBJECTS } from './subjects.js';

/** Makes the calls of one bus: one inbox, one random token per attempt. */
export class CallDesk implements CallHost {
  private readonly inbox: string;
  private readonly calls = new Underway<OutgoingCall>();
  private readonly byToken = new UnderwayByKey<string, OutgoingCall>();
  private readonly detours = new Detours();
  private inboxRefused = false;

  constructor(
    private readonly link: NatsLink,
    private readonly logger: BusLogger,
    inboxPrefix: string,
    readonly graceMs: number,
  ) {
    this.inbox = `${inboxPrefix}.${randomUUID()}`;
    link.addInterest({ subject: `${this.inbox}.*`, onMessage: (message) => this.receive(message) });
    link.listen({ up: () => this.resume(), down: () => this.suspend(), refused: (refusal) => this.refuse(refusal) });
  }

  get connected(): boolean {
    return this.link.connected;
  }

  /** @throws ServiceError */
  call(request: OutgoingRequest): Promise<Outcome> {
    const call = new OutgoingCall(request, this);
    call.onEnd = this.calls.add(call);
    if (this.inboxRefused) call.fail(unavailable(request.operation.owner));
    else call.send();
    return call.outcome;
  }

  /** Ends what is still under way. */
  close(): void {
    for (const call of this.calls) call.fail(shuttingDown());
  }

  send(attempt: Parameters<CallHost['send']>[0]): void {
    this.byToken.set(attempt.token, attempt.call);
    this.link.publish(attempt.subject, attempt.body, {
      headers: attempt.headers,
      reply: `${this.inbox}.${attempt.token}`,
    });
  }

  publish(subject: string, body: string): void {
    this.link.publish(subject, body);
  }

  choose(owner: Owner): InstanceAddress | undefined {
    return this.detours.next(owner);
  }

  bypassFor(instance: InstanceAddress): void {
    this.detours.begin(instance);
  }

  avoid(instance: InstanceAddress): void {
    this.detours.leave(instance);
  }

  forget(token: string): void {
    this.byToken.delete(token);
  }

  note(call: OutgoingCall, what: string): void {
    const { operation, envelope } = call.request;
    this.logger.warn({ operation: operation.name, request_id: envelope.requestId, call_id: envelope.callId }, what);
  }

  private receive(message: Msg): void {
    const token = message.subject.slice(this.inbox.length + 1);
    const call = this.byToken.get(token);
    if (call) call.receive(token, message);
    else this.receiveLate(token, message);
  }

  /** A late reply in parts need not go on; an instance that answered a search after others is there as well. */
  private receiveLate(token: string, message: Msg): void {
    const reply = readReply(message.headers);
    if (reply.kind === 'part') this.publish(SUBJECTS.flow(reply.from, token), 'stop');
    if (reply.kind === 'here') this.detours.join(reply.from);
  }

  private resume(): void {
    this.inboxRefused = false;
    for (const call of this.calls) call.send();
  }

  private suspend(): void {
    this.detours.clear();
    for (const call of this.calls) call.suspend();
  }

  private refuse(refusal: Refusal): void {
    const inbox = refusal.operation === 'subscription' && refusal.subject === `${this.inbox}.*`;
    if (inbox) this.inboxRefused = true;
    for (const call of this.calls) {
      if (inbox || (refusal.operation === 'publish' && refusal.subject === call.subject))
        call.fail(unavailable(call.request.operation.owner));
    }
  }
}
