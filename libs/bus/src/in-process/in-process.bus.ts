import { setTimeout as sleep } from 'node:timers/promises';
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
import { encode, fromText, type Outcome, settle } from '../codec.js';
import { cancelled, checkEnvelope, checkEventId, checkOperations, unavailable } from '../failures.js';
import { Lifecycle } from '../lifecycle.js';
import { Listening } from '../listening.js';
import { Run } from '../run.js';
import { type BusSettings, DEFAULT_SETTINGS } from '../settings.js';
import { type HubListener, InProcessHub } from './hub.js';
import { InProcessServing } from './in-process.serving.js';

/** Options of a bus inside one process. */
export interface InProcessBusOptions {
  /** Receives failures of handlers and listeners. */
  readonly logger: BusLogger;
  /** Replaces single values of `DEFAULT_SETTINGS`. */
  readonly settings?: Partial<BusSettings>;
  /** Buses that share a hub reach each other inside one process. Default: a separate hub. */
  readonly hub?: InProcessHub;
}

/** Pause after an instance declined a call. */
const RETRY_MS = 30;

/** The bus of a workspace that is one process. Values pass through JSON, so nothing mutable is shared. */
export class InProcessBus implements Bus {
  private readonly hub: InProcessHub;
  private readonly settings: BusSettings;
  private readonly logger: BusLogger;
  private readonly life: Lifecycle;

  constructor(options: InProcessBusOptions) {
    this.hub = options.hub ?? new InProcessHub();
    this.settings = { ...DEFAULT_SETTINGS, ...options.settings };
    this.logger = options.logger;
    this.life = new Lifecycle('ready', this.settings.drainMs, options.logger);
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
    const text = encode('request', input, this.settings.requestBytes);
    if (options.signal?.aborted) throw cancelled();
    const outcome = this.run(
      new Run(operation, envelope, options.timeoutMs ?? operation.timeoutMs),
      text,
      options.signal,
    );
    this.life.addCall(outcome);
    return settle(await outcome) as ReplyOf<Op>;
  }

  async serve(owner: Owner, operations: readonly Operation[], dispatch: Dispatch): Promise<Serving> {
    this.life.assertOpen();
    checkOperations(owner, operations);
    const serving = new InProcessServing(owner, operations, dispatch, {
      hub: this.hub,
      settings: this.settings,
      logger: this.logger,
    });
    this.hub.addInstance(serving);
    return this.life.addServing(serving);
  }

  async publish(event: BusEvent): Promise<void> {
    this.life.assertNotClosed();
    checkEventId(event.id);
    const text = encode('event', event.payload, this.settings.requestBytes);
    for (const listener of this.hub.audience(event.type)) {
      listener.deliver({ type: event.type, id: event.id, payload: fromText(text) } as BusEvent);
    }
  }

  async subscribe<T extends BusEvent['type']>(
    types: readonly T[],
    listener: (event: BusEventOf<T>) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.life.assertOpen();
    const listening = new Listening((event) => listener(event as BusEventOf<T>), this.logger);
    const entry: HubListener = {
      types: new Set(types),
      group: options.group,
      deliver: (event) => listening.deliver(event),
    };
    this.hub.addListener(entry);
    return this.life.addSubscription({
      stop: () => {
        this.hub.removeListener(entry);
        return listening.stop();
      },
    });
  }

  close(): Promise<void> {
    return this.life.close(async () => undefined);
  }

  private run(run: Run, text: string, signal: AbortSignal | undefined): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => run.abort(cancelled());
      const finish = (): void => {
        run.end();
        signal?.removeEventListener('abort', onAbort);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      run.signal.addEventListener('abort', () => reject(run.signal.reason), { once: true });
      void this.handOver(run, text).then(resolve, reject).finally(finish);
    });
  }

  /** Tries one instance after the other while they decline the call, for the grace. */
  private async handOver(run: Run, text: string): Promise<Outcome> {
    let outcome = await this.handOverOnce(run, text);
    const giveUpAtMs = performance.now() + this.settings.graceMs;
    while (outcome.kind === 'declined' && !run.signal.aborted && performance.now() < giveUpAtMs) {
      await sleep(RETRY_MS);
      outcome = await this.handOverOnce(run, text);
    }
    return outcome;
  }

  private async handOverOnce(run: Run, text: string): Promise<Outcome> {
    const serving =
      this.hub.next(run.operation) ?? (await this.hub.nextWithin(run.operation, this.settings.graceMs, run.signal));
    if (!serving) throw unavailable(run.operation.owner);
    return serving.handle(run, text);
  }
}
