import type { Envelope, InputOf, Operation, Owner, ReplyOf } from '@workspace-graph/contracts';
import type {
  Bus,
  BusEvent,
  BusEventOf,
  BusLogger,
  BusStatus,
  CallOptions,
  Dispatch,
  Serving,
  SubscribeOptions,
  Subscription,
} from '../bus.js';
import { encode, settle } from '../codec.js';
import { cancelled, checkEnvelope, checkEventId, checkOperations } from '../failures.js';
import { Lifecycle } from '../lifecycle.js';
import { type BusSettings, DEFAULT_SETTINGS } from '../settings.js';
import { CallDesk } from './call-desk.js';
import { NatsLink } from './link.js';
import { NatsEvents } from './nats.events.js';
import { NatsServing } from './nats.serving.js';
import { inboxPrefix, type NatsBusOptions, PROTOCOL } from './options.js';
import type { ServingHost } from './serving-host.js';

/** The bus between processes, over NATS. README.md beside it describes the protocol. */
export class NatsBus implements Bus {
  private readonly settings: BusSettings;
  private readonly logger: BusLogger;
  private readonly life: Lifecycle;
  private readonly link: NatsLink;
  private readonly desk: CallDesk;
  private readonly events: NatsEvents;

  private constructor(options: NatsBusOptions) {
    this.settings = { ...DEFAULT_SETTINGS, ...options.settings };
    this.logger = options.logger;
    this.life = new Lifecycle('connecting', this.settings.drainMs, this.logger);
    this.link = new NatsLink(options, this.logger);
    this.desk = new CallDesk(this.link, this.logger, inboxPrefix(options), this.settings.graceMs);
    this.events = new NatsEvents(this.link, this.settings, this.logger);
    this.link.listen({ up: () => this.follow('ready'), down: () => this.follow('connecting') });
  }

  /**
   * Answers at once, with status `connecting`; tries until the broker is there, and again whenever it was lost.
   * @throws Error for options that cannot work
   */
  static connect(options: NatsBusOptions): NatsBus {
    return new NatsBus(options);
  }

  get status(): BusStatus {
    return this.life.status.current;
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    return this.life.status.on(listener);
  }

  async call<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    envelope: Envelope,
    options: CallOptions = {},
  ): Promise<ReplyOf<Op>> {
    this.life.assertMayCall();
    checkEnvelope(envelope);
    const body = encode('request', input, this.withinBroker(this.settings.requestBytes));
    if (options.signal?.aborted) throw cancelled();
    const timeoutMs = options.timeoutMs ?? operation.timeoutMs;
    const outcome = this.desk.call({ operation, body, envelope, timeoutMs, signal: options.signal });
    this.life.addCall(outcome);
    return settle(await outcome) as ReplyOf<Op>;
  }

  async serve(owner: Owner, operations: readonly Operation[], dispatch: Dispatch): Promise<Serving> {
    this.life.assertOpen();
    checkOperations(owner, operations);
    const serving = new NatsServing(owner, operations, dispatch, this.servingHost());
    const tracked = this.life.addServing(serving);
    try {
      await serving.start();
    } catch (error) {
      await tracked.stop();
      throw error;
    }
    return tracked;
  }

  async publish(event: BusEvent): Promise<void> {
    this.life.assertNotClosed();
    checkEventId(event.id);
    return this.events.publish(event);
  }

  async subscribe<T extends BusEvent['type']>(
    types: readonly T[],
    listener: (event: BusEventOf<T>) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.life.assertOpen();
    return this.life.addSubscription(
      await this.events.subscribe(types, (event) => listener(event as BusEventOf<T>), options),
    );
  }

  close(): Promise<void> {
    return this.life.close(async () => {
      this.desk.close();
      await this.link.close();
    });
  }

  private follow(status: 'ready' | 'connecting'): void {
    if (this.status === 'ready' || this.status === 'connecting') this.life.status.set(status);
  }

  private servingHost(): ServingHost {
    const bus = this;
    return {
      link: this.link,
      settings: this.settings,
      logger: this.logger,
      get wholeBytes() {
        return bus.withinBroker(PROTOCOL.wholeBytes);
      },
      get partBytes() {
        return bus.withinBroker(PROTOCOL.partBytes);
      },
    };
  }

  /** A broker may be set to take less than this product sends. */
  private withinBroker(bytes: number): number {
    return Math.min(bytes, this.link.maxMessageBytes - PROTOCOL.headerBytes);
  }
}
