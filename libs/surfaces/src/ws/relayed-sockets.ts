import { setTimeout as delay } from 'node:timers/promises';
import type { Bus, Subscription } from '@workspace-graph/bus';
import { type Caller, type InputOf, type OutputOf, readSight } from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import { WebSocket } from 'ws';
import type { Admission } from '../edge/admission.js';
import { HIGH_BYTES } from './back-pressure.js';
import { ChangeWatch, type Watcher } from './change-watch.js';

const LOOK_MS = 100;

/** A client whose frames are passed on to the centre. */
class RelayedSocket implements Watcher {
  constructor(
    private readonly client: WebSocket,
    private readonly admission: Admission,
  ) {}

  get caller(): Caller {
    return this.admission.caller;
  }

  get isOpen(): boolean {
    return this.client.readyState === WebSocket.OPEN;
  }

  get isFull(): boolean {
    return this.client.bufferedAmount > HIGH_BYTES;
  }

  sendText(text: string): void {
    if (this.isOpen) this.client.send(text);
  }

  async roomy(): Promise<void> {
    while (this.isOpen && this.isFull) await delay(LOOK_MS);
  }
}

/** Whoever connects here is the person of this device, whose folders are those of nodes that the person sees. */
const SEEN_BY_ALL = {
  call: async (operation: { readonly name: string }, input: unknown): Promise<OutputOf<typeof readSight>> => {
    if (operation.name !== readSight.name) throw new Error(`${operation.name} is not asked here`);
    const { node_ids } = input as InputOf<typeof readSight>;
    return { seen: [{ nodes: node_ids.map((_id, place) => place), by: null }] };
  },
} as unknown as Pick<Bus, 'call'>;

/** Tells clients of a relay what the centre does not know: what changes of the folders on this device, and of the way there. */
export class RelayedSockets {
  private readonly changes: ChangeWatch;
  private readonly sockets = new Map<WebSocket, RelayedSocket>();
  private subscription: Subscription | null = null;
  private endStatus: (() => void) | null = null;

  constructor(
    private readonly bus: Pick<Bus, 'subscribe' | 'onStatus'>,
    logger: Pick<Logger, 'warn'>,
  ) {
    this.changes = new ChangeWatch(SEEN_BY_ALL, logger);
  }

  async start(): Promise<void> {
    this.changes.start();
    this.subscription = await this.bus.subscribe(['sync.changed'], (event) => this.changes.heard(event));
    // Whether the centre can be reached is shown, too.
    this.endStatus = this.bus.onStatus(() => this.changes.lookAgain());
  }

  async stop(): Promise<void> {
    this.endStatus?.();
    await this.subscription?.stop();
    await this.changes.stop();
  }

  /** Takes a client in, until it closes. */
  add(client: WebSocket, admission: Admission): void {
    const socket = new RelayedSocket(client, admission);
    this.sockets.set(client, socket);
    client.once('close', () => {
      this.sockets.delete(client);
      this.changes.forget(socket);
    });
  }

  /** A client has asked the centre to be told this; what the centre makes of it is between the two. */
  watch(client: WebSocket, sync: boolean): void {
    const socket = this.sockets.get(client);
    if (socket) this.changes.watch(socket, { graph: false, files: false, sync });
  }
}
