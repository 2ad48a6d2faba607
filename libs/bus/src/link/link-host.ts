import {
  BUS_EVENTS,
  type BusEventType,
  type Caller,
  type Envelope,
  type Operation,
  type Owner,
  ServiceError,
} from '@workspace-graph/contracts';
import type { WebSocket } from 'ws';
import type { Bus, BusEvent, BusLogger, CallContext, Serving, Subscription } from '../bus.js';
import { encode, encodeError, encodeOutput, type Outcome, refusalOf, settle } from '../codec.js';
import { Declined, internal, isPrintable, unavailable } from '../failures.js';
import { parseInput } from '../run.js';
import { type BusSettings, DEFAULT_SETTINGS } from '../settings.js';
import { UnderwayByKey } from '../underway.js';
import { Work } from '../work.js';
import type { Frame, FrameOf } from './frames.js';
import { LinkLost, LinkPeer } from './link-peer.js';

/** What stands behind the host of a link, for this one peer. It refuses what the peer may not do by a ServiceError. */
export interface LinkBackground extends Pick<Bus, 'call' | 'serve' | 'publish' | 'subscribe'> {
  /** The operation of this name. @throws ServiceError for one that the peer may not know of */
  operation(owner: Owner, name: string): Operation;
  /** Who calls, whatever the peer says of itself. @throws ServiceError */
  caller(claimed: Caller | null): Promise<Caller> | Caller;
}

export interface LinkHostOptions {
  readonly behind: LinkBackground;
  readonly logger: BusLogger;
  readonly settings?: Partial<BusSettings>;
  readonly heartbeatMs?: number;
  /** Calls at once; further ones are refused with RATE_LIMITED. Default: no limit. */
  readonly mostCalls?: number;
}

const HEARTBEAT_MS = 10_000;
const REPLY_ROOM_BYTES = 1_048_576;
/** Servings and subscriptions of one connection. */
const MOST_OFFERS = 100;
const DONE: Outcome = { kind: 'json', body: '' };

/** The gateway's end of a link: has done what the other end asks for. */
export class LinkHost {
  private readonly peer: LinkPeer;
  private readonly settings: BusSettings;
  private readonly calls = new UnderwayByKey<number, AbortController>();
  private readonly servings = new Map<number, Promise<Serving>>();
  private readonly subscriptions = new Map<number, Promise<Subscription>>();
  private readonly answers = new Work();
  private readonly gone = Promise.withResolvers<void>();
  private isLeaving = false;

  constructor(
    socket: WebSocket,
    private readonly options: LinkHostOptions,
  ) {
    this.settings = { ...DEFAULT_SETTINGS, ...options.settings };
    this.peer = new LinkPeer(socket, {
      logger: options.logger,
      replyBytes: this.settings.replyBytes + REPLY_ROOM_BYTES,
      heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
      receive: (frame) => this.receive(frame),
      lost: () => this.lost(),
    });
    this.peer.tell({ kind: 'hello', protocol: 1 });
  }

  /** Resolves when the connection is gone, and nothing is carried out for it any more. */
  get ended(): Promise<void> {
    return this.gone.promise;
  }

  close(code: number, reason: string): void {
    this.isLeaving = true;
    this.peer.close(code, reason);
  }

  /** Takes nothing more, and closes when what is under way is answered, at the latest after this time. */
  async finish(code: number, reason: string, withinMs: number): Promise<void> {
    this.isLeaving = true;
    await this.answers.idle(withinMs);
    this.close(code, reason);
  }

  terminate(): void {
    this.peer.terminate();
  }

  private receive({ head, body }: Frame): void {
    // Whoever asked asks again on its next connection, or hears there why it has none.
    if (this.isLeaving) return;
    switch (head.kind) {
      case 'call':
        return this.answer(head.id, head.request_id, () => this.call(head, body));
      case 'cancel':
        return this.calls.get(head.id)?.abort();
      case 'serve':
        return this.answer(head.id, '', () => this.serve(head));
      case 'pause':
      case 'resume':
      case 'stop':
        return this.answer(head.id, '', () => this.change(head));
      case 'subscribe':
        return this.answer(head.id, '', () => this.subscribe(head));
      case 'unsubscribe':
        return this.answer(head.id, '', () => this.unsubscribe(head.subscription));
      case 'publish':
        return this.answer(head.id, '', () => this.publish(head, body));
      default:
        throw new Error(`a device sends no ${head.kind}`);
    }
  }

  private answer(id: number, requestId: string, work: () => Promise<Outcome>): void {
    const answered = work().catch((error: unknown) => this.refusal(error, requestId));
    const replied = answered.then((outcome) => this.peer.reply(id, outcome));
    this.answers.add(replied);
  }

  private refusal(error: unknown, requestId: string): Outcome {
    if (error instanceof ServiceError) return encodeError(error, requestId, this.settings.replyBytes);
    this.options.logger.error({ err: error, request_id: requestId }, 'a link could not do what it was asked');
    return encodeError(internal(error), requestId, this.settings.replyBytes);
  }

  private async call(head: FrameOf<'call'>, body: Uint8Array): Promise<Outcome> {
    const { behind, mostCalls = Number.POSITIVE_INFINITY } = this.options;
    if (this.calls.size >= mostCalls)
      throw new ServiceError('RATE_LIMITED', `A device makes at most ${mostCalls} calls at once.`);
    const controller = new AbortController();
    this.calls.set(head.id, controller);
    try {
      const operation = behind.operation(head.owner, head.operation);
      const caller = await behind.caller(head.caller);
      if (!isPrintable(head.call_id) || !isPrintable(head.request_id))
        throw internal(new Error('an id is unprintable'));
      const envelope: Envelope = {
        callId: head.call_id,
        requestId: head.request_id,
        caller,
        ...(head.traceparent === undefined ? {} : { traceparent: head.traceparent }),
      };
      const options = { signal: controller.signal, timeoutMs: head.timeout_ms };
      const output = await behind.call(operation, inputOf(body) as never, envelope, options);
      return encodeOutput(output, this.settings.replyBytes);
    } finally {
      this.calls.delete(head.id);
    }
  }

  private async serve({ id, owner, operations: names }: FrameOf<'serve'>): Promise<Outcome> {
    const { behind } = this.options;
    this.refuseMore();
    const operations = names.map((name) => behind.operation(owner, name));
    const serving = behind.serve(owner, operations, (operation, input, context) =>
      this.pass(operation, input, context),
    );
    this.servings.set(id, serving);
    serving.catch(() => this.servings.delete(id));
    await serving;
    // One that came to an end while it was begun.
    if (!this.peer.open) await this.endServing(id);
    return DONE;
  }

  /** Has the other end carry out a call. Where it is gone, another instance may. */
  private async pass(operation: Operation, input: unknown, context: CallContext): Promise<unknown> {
    const { callId: call_id, requestId: request_id, traceparent, caller } = context.envelope;
    const body = encode('request', input, this.settings.requestBytes);
    const { id, outcome } = this.peer.ask(
      {
        kind: 'call',
        owner: operation.owner,
        operation: operation.name,
        call_id,
        request_id,
        ...(traceparent === undefined ? {} : { traceparent }),
        caller,
        timeout_ms: context.remainingMs(),
      },
      body,
    );
    const cancel = (): void => {
      const { code } = context.signal.reason as ServiceError;
      // It has the same deadline.
      if (code === 'TIMEOUT') return;
      this.peer.tell({ kind: 'cancel', id, ...(code === 'SERVICE_UNAVAILABLE' ? { stopping: true } : {}) });
    };
    context.signal.addEventListener('abort', cancel, { once: true });
    try {
      return outputOf(await outcome);
    } catch (error) {
      throw error instanceof LinkLost ? new Declined(unavailable(operation.owner)) : error;
    } finally {
      context.signal.removeEventListener('abort', cancel);
    }
  }

  private async change({ kind, serving: id }: FrameOf<'pause' | 'resume' | 'stop'>): Promise<Outcome> {
    const serving = await this.servings.get(id);
    if (!serving) return DONE;
    if (kind === 'resume') await serving.resume();
    else await serving.pause();
    // Those that it has are answered yet; no further ones come.
    if (kind === 'stop') void this.endServing(id);
    return DONE;
  }

  private async endServing(id: number): Promise<void> {
    const serving = this.servings.get(id);
    this.servings.delete(id);
    await (await serving?.catch(() => undefined))?.stop();
  }

  private async subscribe({ id, types, group }: FrameOf<'subscribe'>): Promise<Outcome> {
    this.refuseMore();
    const known = types.map((type) => eventType(type));
    const subscription = this.options.behind.subscribe(
      known,
      (event) => this.tell(id, event as BusEvent),
      group === undefined ? {} : { group },
    );
    this.subscriptions.set(id, subscription);
    subscription.catch(() => this.subscriptions.delete(id));
    await subscription;
    if (!this.peer.open) await this.unsubscribe(id);
    return DONE;
  }

  private tell(id: number, event: BusEvent): void {
    const { type, id: event_id, payload } = event;
    this.peer.tell({ kind: 'event', subscription: id, type, event_id }, JSON.stringify(payload));
  }

  private async unsubscribe(id: number): Promise<Outcome> {
    const subscription = this.subscriptions.get(id);
    this.subscriptions.delete(id);
    await (await subscription?.catch(() => undefined))?.stop();
    return DONE;
  }

  private async publish({ type, event_id: id }: FrameOf<'publish'>, body: Uint8Array): Promise<Outcome> {
    await this.options.behind.publish({ type: eventType(type), id, payload: inputOf(body) } as BusEvent);
    return DONE;
  }

  private refuseMore(): void {
    if (this.servings.size + this.subscriptions.size < MOST_OFFERS) return;
    throw new ServiceError('RATE_LIMITED', `A device serves and listens at most ${MOST_OFFERS} times.`);
  }

  /** What a device asked for and will not hear of is not carried on: it asks again. */
  private lost(): void {
    for (const controller of this.calls.values()) controller.abort();
    const ends = [...this.servings.keys()].map((id) => this.endServing(id));
    const silences = [...this.subscriptions.keys()].map((id) => this.unsubscribe(id));
    void Promise.all([...ends, ...silences]).then(() => this.gone.resolve());
  }
}

function eventType(type: string): BusEventType {
  if (Object.hasOwn(BUS_EVENTS, type)) return type as BusEventType;
  throw new ServiceError('FORBIDDEN', `There is no event ${type}.`);
}

function inputOf(body: Uint8Array): unknown {
  return parseInput(new TextDecoder().decode(body));
}

/** What the other end answered, as a handler gives it. @throws ServiceError, Declined */
function outputOf(outcome: Outcome): unknown {
  if (outcome.kind === 'declined') throw new Declined(refusalOf(outcome.body));
  return settle(outcome);
}
