import { randomUUID } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import { isNamed, type Operation, type Owner, ServiceError } from '@workspace-graph/contracts';
import type { Dispatch, Serving } from '../bus.js';
import { encodeError } from '../codec.js';
import { cancelled, internal, shuttingDown, unavailable, unnamed } from '../failures.js';
import { Run } from '../run.js';
import { Underway, UnderwayByKey } from '../underway.js';
import { Work } from '../work.js';
import { type IncomingEnvelope, instanceHeaders, outcomeHeaders, readEnvelope } from './headers.js';
import { IncomingCall } from './incoming-call.js';
import type { Interest } from './link.js';
import type { ServingHost } from './serving-host.js';
import { type InstanceAddress, SUBJECTS } from './subjects.js';

/** One instance of an owner on NATS. */
export class NatsServing implements Serving {
  private readonly address: InstanceAddress;
  private readonly requests: readonly Interest[];
  private readonly controls: readonly Interest[];
  private readonly operations: ReadonlyMap<string, Operation>;
  private readonly work = new Work();
  private readonly calls = new Underway<IncomingCall>();
  /** Calls whose handler works, by what makes two messages the same call. */
  private readonly working = new UnderwayByKey<string, IncomingCall>();
  private stopping: Promise<void> | undefined;
  private paused = false;

  constructor(
    readonly owner: Owner,
    operations: readonly Operation[],
    private readonly dispatch: Dispatch,
    private readonly host: ServingHost,
  ) {
    this.address = { owner, id: randomUUID() };
    this.operations = new Map(operations.map((operation) => [operation.name, operation]));
    this.requests = operations.map((operation) => ({
      subject: SUBJECTS.operation(operation),
      queue: owner,
      onMessage: (message) => this.receive(operation, message),
    }));
    this.controls = [
      { subject: SUBJECTS.cancel(owner), onMessage: (message) => this.cancel(message.string()) },
      { subject: SUBJECTS.find(owner), onMessage: (message) => this.answerSearch(message) },
      { subject: SUBJECTS.direct(this.address, '*'), onMessage: (message) => this.receiveDirect(message) },
      { subject: SUBJECTS.flow(this.address, '*'), onMessage: (message) => this.confirm(message) },
    ];
  }

  /** @throws Error where access control forbids a subject */
  start(): Promise<void> {
    return this.listen([...this.controls, ...this.requests]);
  }

  async pause(): Promise<void> {
    if (this.paused || this.stopping !== undefined) return;
    this.paused = true;
    for (const call of this.calls) call.suppressSigns();
    await this.leaveGroup();
  }

  async resume(): Promise<void> {
    if (!this.paused || this.stopping !== undefined) return;
    this.paused = false;
    for (const call of this.calls) call.resumeSigns();
    await this.listen(this.requests);
  }

  stop(): Promise<void> {
    this.stopping ??= this.drain();
    return this.stopping;
  }

  private async listen(interests: readonly Interest[]): Promise<void> {
    for (const interest of interests) this.host.link.addInterest(interest);
    const answer = await this.host.link.confirm(interests.map((interest) => interest.subject));
    if (typeof answer === 'string') return;
    throw new Error(`NATS forbids this user to subscribe to ${answer.subject}`);
  }

  private async leaveGroup(): Promise<void> {
    await Promise.all(this.requests.map((interest) => this.host.link.removeInterest(interest)));
  }

  private async drain(): Promise<void> {
    await this.leaveGroup();
    if (!(await this.work.idle(this.host.settings.drainMs))) this.abortAll();
    await this.host.link.flush();
    await Promise.all(this.controls.map((interest) => this.host.link.removeInterest(interest)));
  }

  private abortAll(): void {
    this.host.logger.warn(
      { owner: this.owner, calls: this.calls.size },
      'calls that did not end during the drain were aborted',
    );
    for (const call of this.calls) call.run.abort(shuttingDown());
  }

  private receive(operation: Operation, message: Msg): void {
    if (!message.reply) return this.host.logger.warn({ operation: operation.name }, 'a request has no reply subject');
    const incoming = this.read(operation.name, message);
    if (!incoming) return;
    const key = `${operation.name} ${incoming.envelope.callId} ${incoming.callerText}`;
    const same = this.working.get(key);
    if (same?.hasBody(message.data)) return same.join(message.reply);
    if (this.paused) return this.decline(message.reply, incoming);
    const run = new Run(operation, incoming.envelope, incoming.timeoutMs);
    const call = new IncomingCall(run, { data: message.data, reply: message.reply }, this.address, this.host);
    this.work.add(this.handle(key, call).finally(this.calls.add(call)));
  }

  /** A caller that heard nothing of its call asks who would take it. */
  private answerSearch(message: Msg): void {
    if (!message.reply || this.paused || this.stopping !== undefined || !this.operations.has(message.string())) return;
    this.host.link.publish(message.reply, '', { headers: instanceHeaders('here', this.address) });
  }

  private receiveDirect(message: Msg): void {
    const name = message.subject.slice(message.subject.lastIndexOf('.') + 1);
    const operation = this.operations.get(name);
    if (operation && this.stopping === undefined) return this.receive(operation, message);
    const incoming = message.reply ? this.read(name, message) : undefined;
    if (incoming) this.decline(message.reply ?? '', incoming);
  }

  /** Of a call that was on its way when this instance left its group, or of an operation that this build does not have. */
  private decline(replyTo: string, { envelope }: IncomingEnvelope): void {
    const { body } = encodeError(unavailable(this.owner), envelope.requestId, Number.POSITIVE_INFINITY);
    this.host.link.publish(replyTo, body, { headers: instanceHeaders('declined', this.address) });
  }

  private read(operation: string, message: Msg): IncomingEnvelope | undefined {
    let requestId = 'unknown';
    try {
      const incoming = readEnvelope(message.headers);
      requestId = incoming.envelope.requestId;
      if (!isNamed(incoming.envelope.caller)) throw unnamed();
      return incoming;
    } catch (error) {
      this.host.logger.error({ err: error, operation }, 'a malformed request was rejected');
      const outcome = encodeError(
        error instanceof ServiceError ? error : internal(error),
        requestId,
        Number.POSITIVE_INFINITY,
      );
      this.host.link.publish(message.reply ?? '', outcome.body, { headers: outcomeHeaders(outcome) });
      return undefined;
    }
  }

  private async handle(key: string, call: IncomingCall): Promise<void> {
    try {
      this.working.set(key, call);
      const outcome = await call.work(this.dispatch);
      if (this.working.get(key) === call) this.working.delete(key);
      await call.answer(outcome);
    } catch (error) {
      this.host.logger.error({ err: error, operation: call.run.operation.name }, 'an answer could not be sent');
    } finally {
      call.end();
    }
  }

  private cancel(callId: string): void {
    for (const call of this.calls) {
      if (call.run.envelope.callId === callId) call.run.abort(cancelled());
    }
  }

  private confirm(message: Msg): void {
    const token = message.subject.slice(message.subject.lastIndexOf('.') + 1);
    const received = message.string();
    for (const call of this.calls) call.confirm(token, received === 'stop' ? 'stop' : Number(received));
  }
}
