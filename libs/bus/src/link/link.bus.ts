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
import { encode, encodeError, fromText, settle } from '../codec.js';
import { cancelled, checkEnvelope, checkEventId, checkOperations, notPublished, unavailable } from '../failures.js';
import { Lifecycle } from '../lifecycle.js';
import { Listening } from '../listening.js';
import { type BusSettings, DEFAULT_SETTINGS } from '../settings.js';
import type { Frame, FrameOf } from './frames.js';
import { LinkCalls } from './link-calls.js';
import { LinkConnection } from './link-connection.js';
import { LinkLost, type LinkPeer, unlessLost } from './link-peer.js';
import { LinkServing } from './link-serving.js';

export interface LinkBusOptions {
  /** Where the gateway takes links, such as wss://example.org/link. */
  readonly url: string;
  /** The headers of each attempt, such as the credential of now. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly logger: BusLogger;
  readonly settings?: Partial<BusSettings>;
  /** Default: 300 ms to 15 s. */
  readonly reconnect?: { readonly firstMs: number; readonly mostMs: number };
  /** A gateway that is silent for twice as long is left. Default: 10 s. */
  readonly heartbeatMs?: number;
  /** The gateway has answered and lets nobody in with these headers. It is tried again. */
  readonly refused?: (status: number) => void;
}

const RECONNECT = { firstMs: 300, mostMs: 15_000 };
const HEARTBEAT_MS = 10_000;
/** Room for the head of a reply, and for the details of a refusal. */
const REPLY_ROOM_BYTES = 1_048_576;

/**
 * The bus of a device: one outgoing WebSocket to a gateway, which stands for everybody behind it. What was under way when
 * the connection was lost is sent again, under the same call id, when it is back.
 */
export class LinkBus implements Bus {
  private readonly settings: BusSettings;
  private readonly logger: BusLogger;
  private readonly life: Lifecycle;
  private readonly connection: LinkConnection;
  private readonly calls: LinkCalls;
  private readonly servings = new Set<LinkServing>();
  private readonly listeners = new Set<LinkListener>();

  private constructor(options: LinkBusOptions) {
    this.settings = { ...DEFAULT_SETTINGS, ...options.settings };
    this.logger = options.logger;
    this.life = new Lifecycle('connecting', this.settings.drainMs, options.logger);
    this.calls = new LinkCalls(this.settings.graceMs, () => this.connection.hurry());
    this.connection = new LinkConnection({
      url: options.url,
      headers: options.headers,
      logger: options.logger,
      replyBytes: this.settings.replyBytes + REPLY_ROOM_BYTES,
      heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
      reconnect: options.reconnect ?? RECONNECT,
      receive: (frame) => this.receive(frame),
      up: (peer) => this.up(peer),
      down: () => this.down(),
      refused: (status) => {
        this.calls.refused();
        options.refused?.(status);
      },
    });
  }

  /** Answers at once, with status `connecting`; tries until the gateway is there, and again whenever it was lost. */
  static connect(options: LinkBusOptions): LinkBus {
    return new LinkBus(options);
  }

  get status(): BusStatus {
    return this.life.status.current;
  }

  /** Why no gateway could be reached at the last attempt; null while one is. */
  get problem(): string | null {
    return this.connection.problem;
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
    const body = encode('request', input, this.settings.requestBytes);
    if (options.signal?.aborted) throw cancelled();
    const timeoutMs = options.timeoutMs ?? operation.timeoutMs;
    const outcome = this.calls.call({ operation, body, envelope, timeoutMs, signal: options.signal });
    this.life.addCall(outcome);
    return settle(await outcome) as ReplyOf<Op>;
  }

  async serve(owner: Owner, operations: readonly Operation[], dispatch: Dispatch): Promise<Serving> {
    this.life.assertOpen();
    checkOperations(owner, operations);
    const { settings, logger } = this;
    const peer = () => this.connection.current;
    const serving = new LinkServing(owner, operations, dispatch, { settings, logger, peer });
    this.servings.add(serving);
    const tracked = this.life.addServing({
      owner,
      pause: () => serving.pause(),
      resume: () => serving.resume(),
      stop: () => serving.stop().finally(() => this.servings.delete(serving)),
    });
    return begun(tracked, serving.begin());
  }

  async publish(event: BusEvent): Promise<void> {
    this.life.assertNotClosed();
    checkEventId(event.id);
    const body = encode('event', event.payload, this.settings.requestBytes);
    const peer = this.connection.current;
    if (!peer) throw notPublished();
    const { outcome } = peer.ask({ kind: 'publish', type: event.type, event_id: event.id }, body);
    try {
      settle(await outcome);
    } catch (error) {
      throw error instanceof LinkLost ? notPublished() : error;
    }
  }

  async subscribe<T extends BusEvent['type']>(
    types: readonly T[],
    listener: (event: BusEventOf<T>) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.life.assertOpen();
    const listening = new Listening((event) => listener(event as BusEventOf<T>), this.logger);
    const entry = new LinkListener(types, options.group, listening);
    this.listeners.add(entry);
    const tracked = this.life.addSubscription({
      stop: () => {
        this.listeners.delete(entry);
        entry.end(this.connection.current);
        return listening.stop();
      },
    });
    return begun(tracked, entry.begin(this.connection.current));
  }

  close(): Promise<void> {
    return this.life.close(async () => {
      this.calls.close();
      await this.connection.close(this.settings.drainMs);
    });
  }

  /** Serves and listens again before anything is called. */
  private up(peer: LinkPeer): void {
    for (const serving of this.servings) this.beginAgain(serving.begin());
    for (const listener of this.listeners) this.beginAgain(listener.begin(peer));
    this.calls.up(peer);
    if (this.status === 'connecting') this.life.status.set('ready');
  }

  /** Nobody waits for it any more: whoever began it was told that it works. */
  private beginAgain(beginning: Promise<void>): void {
    beginning.catch((err: unknown) =>
      this.logger.error({ err }, 'the gateway refuses now what it allowed on the connection before'),
    );
  }

  private down(): void {
    this.calls.down();
    if (this.status === 'ready') this.life.status.set('connecting');
  }

  private receive({ head, body }: Frame): void {
    if (head.kind === 'call') this.answer(head, body);
    else if (head.kind === 'cancel') for (const serving of this.servings) serving.cancel(head);
    else if (head.kind === 'event') this.hear(head, body);
  }

  private answer(head: FrameOf<'call'>, body: Uint8Array): void {
    const serving = [...this.servings].find((each) => each.takes(head));
    if (serving) return serving.take(head, body);
    const refusal = encodeError(unavailable(head.owner), head.request_id, this.settings.replyBytes);
    void this.connection.current?.reply(head.id, { ...refusal, kind: 'declined' });
  }

  private hear({ subscription, type, event_id: id }: FrameOf<'event'>, body: Uint8Array): void {
    const listener = [...this.listeners].find((each) => each.id === subscription);
    listener?.hear({ type, id, payload: fromText(new TextDecoder().decode(body)) } as BusEvent);
  }
}

/** What is refused at its beginning is over. @throws the refusal */
async function begun<T extends { stop(): Promise<void> }>(tracked: T, beginning: Promise<void>): Promise<T> {
  try {
    await beginning;
    return tracked;
  } catch (error) {
    await tracked.stop();
    throw error;
  }
}

/** One subscription, which the gateway is told of on each connection. */
class LinkListener {
  /** Of the request that began it on this connection. */
  id = -1;

  constructor(
    private readonly types: readonly string[],
    private readonly group: string | undefined,
    private readonly listening: Listening,
  ) {}

  /** Resolves when events can arrive, or at once while nobody can be reached. @throws Error where it is forbidden */
  async begin(peer: LinkPeer | null): Promise<void> {
    if (!peer) return;
    const { types, group } = this;
    const asked = peer.ask({ kind: 'subscribe', types: [...types], ...(group === undefined ? {} : { group }) });
    this.id = asked.id;
    await asked.outcome.then(settle).catch(unlessLost);
  }

  end(peer: LinkPeer | null): void {
    if (peer) peer.ask({ kind: 'unsubscribe', subscription: this.id }).outcome.catch(() => undefined);
  }

  hear(event: BusEvent): void {
    this.listening.deliver(event);
  }
}
