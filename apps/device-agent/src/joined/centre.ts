import { isDeepStrictEqual } from 'node:util';
import { LinkBus } from '@workspace-graph/bus';
import { type Caller, LINK_PATH, type OutputOf, type Scope, ServiceError, whoami } from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import { ask } from '@workspace-graph/surfaces';
import type { Membership } from './membership.js';

/** What the device knows of its way to the centre. `refused`: the centre does not take its token any more. */
export type CentreState = 'connected' | 'unreachable' | 'refused';
export type Me = OutputOf<typeof whoami>;

export interface CentreParts {
  readonly membership: Membership;
  readonly token: string;
  readonly logger: Logger;
  /** Told what is to be kept of the person, for times without a connection. */
  readonly keep: (me: Me) => Promise<void>;
}

const UNAUTHENTICATED = 401;
/** What a person loses, the centre refuses at once; what they gain is noticed here after this time at the latest. */
const LOOK_MS = 60_000;

/** The link of this device to its central workspace, and what is known of its person. */
export class Centre {
  readonly bus: LinkBus;
  private known: Me | null;
  private isRefused = false;
  private changedAt = new Date();
  private readonly listeners = new Set<(state: CentreState) => void>();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly parts: CentreParts) {
    const { membership, token, logger } = parts;
    this.known = membership.me;
    this.bus = LinkBus.connect({
      url: addressOf(membership.url, LINK_PATH),
      headers: () => ({ authorization: `Bearer ${token}` }),
      logger,
      refused: (status) => this.refused(status),
    });
    this.bus.onStatus(() => {
      if (this.bus.status === 'ready') this.isRefused = false;
      this.tell();
      if (this.bus.status === 'ready') void this.look();
    });
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  get state(): CentreState {
    if (this.isRefused) return 'refused';
    return this.bus.status === 'ready' ? 'connected' : 'unreachable';
  }

  /** Why it is unreachable; null where it is not, or nothing more is known. */
  get problem(): string | null {
    return this.state === 'unreachable' ? this.bus.problem : null;
  }

  /** Since when it is as it is. */
  get since(): Date {
    return this.changedAt;
  }

  /** What the person may do, as last told. */
  get scope(): Scope {
    return this.known?.scope ?? this.parts.membership.scope;
  }

  /** Tells each change of the state. */
  onChange(listener: (state: CentreState) => void): void {
    this.listeners.add(listener);
  }

  /** The person of this device with what they may do now; as last told while nobody can be reached. @throws ServiceError */
  async me(caller: Caller): Promise<Me> {
    try {
      return await this.ask(caller);
    } catch (error) {
      if (this.known && error instanceof ServiceError && error.retryable) return this.known;
      throw error;
    }
  }

  /** Looks again at what the person may do. */
  async look(): Promise<void> {
    if (this.bus.status !== 'ready') return;
    await this.ask(null).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      this.parts.logger.debug({ err: error }, 'what the person of this device may do could not be read');
    });
  }

  stopLooking(): void {
    clearInterval(this.timer);
  }

  private async ask(caller: Caller | null): Promise<Me> {
    const me = await ask(this.bus, whoami, {}, { caller });
    // A caller with a weaker credential is told less.
    if (caller !== null) return me;
    const isNew = !isDeepStrictEqual(me, this.known);
    this.known = me;
    if (isNew) await this.parts.keep(me);
    return me;
  }

  private refused(status: number): void {
    if (status !== UNAUTHENTICATED || this.isRefused) return;
    this.isRefused = true;
    this.parts.logger.error('the centre does not take the token of this device any more: it was revoked, or has ended');
    this.tell();
  }

  private tell(): void {
    this.changedAt = new Date();
    for (const listener of this.listeners) listener(this.state);
  }
}

/** The address of a path at the gateways, for a WebSocket. */
export function addressOf(url: string, path: string): string {
  return `${url.replace(/^http/, 'ws')}${path}`;
}
