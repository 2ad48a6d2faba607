import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DEVICE_PARTS, type DeviceParts } from '../../device-parts.js';
import { HandoffFiles } from '../handoff-files.js';
import { Mirrors } from '../mirrors.js';
import { ScopeFiles } from './scope-files.js';

/** Changes come in groups. */
const DELAY_MS = 2_000;
/** Looking at all files takes at most a tenth of the time, unless that would let one wait longer than this. */
const REST = 9;
const REST_MAX_MS = 30_000;

/**
 * Lets SVC_SCOPE.md follow the graph: gathers what has changed, and looks at the files that tell of it, one after the
 * other. What the services say is only the occasion to look.
 */
@Injectable()
export class ScopeFollower implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stops: (() => Promise<void> | void)[] = [];
  private changed = new Set<string>();
  private isAll = false;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private restMs = 0;
  private stopping = false;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(ScopeFiles) private readonly files: ScopeFiles,
    @Inject(HandoffFiles) private readonly handoffs: HandoffFiles,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { bus } = this.parts;
    const changes = await bus.subscribe(['graph.changed'], ({ payload: { node_ids } }) =>
      node_ids.length > 0 ? this.note(node_ids) : this.noteAll(),
    );
    // Who may see a node can change through others, which are not named.
    const accesses = await bus.subscribe(['access.changed'], () => this.noteAll());
    const credentials = await bus.subscribe(['credential.ended'], ({ payload: { credential_id } }) => {
      if (credential_id === null) this.noteAll();
    });
    // A session may have left a handoff.
    const sessions = await bus.subscribe(['session.changed'], ({ payload: { node_id } }) => {
      if (node_id !== null) this.note([node_id]);
    });
    const endStatus = bus.onStatus((status) => {
      if (status === 'ready') this.noteAll();
    });
    this.stops.push(
      () => changes.stop(),
      () => accesses.stop(),
      () => credentials.stop(),
      () => sessions.stop(),
      endStatus,
      // Its file may come after the event, and is pointed to from then on.
      this.handoffs.onWritten((nodeId) => this.note([nodeId])),
    );
  }

  /** Looks at every file soon. */
  noteAll(): void {
    this.isAll = true;
    this.lookSoon();
  }

  /** Looks at once at what was noted, for whoever cannot wait. */
  async settled(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.looking = this.looking
      .then(() => this.look())
      .catch((error: unknown) =>
        this.parts.logger.warn({ err: error }, 'the SVC_SCOPE.md files of folders could not be checked'),
      );
    await this.looking;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    for (const stop of this.stops.splice(0)) await stop();
    await this.looking;
  }

  private note(nodeIds: readonly string[]): void {
    for (const nodeId of nodeIds) this.changed.add(nodeId);
    this.lookSoon();
  }

  private lookSoon(): void {
    if (!this.stopping) this.timer ??= setTimeout(() => void this.settled(), DELAY_MS + this.restMs).unref();
  }

  private async look(): Promise<void> {
    const { changed, isAll } = this;
    this.changed = new Set();
    this.isAll = false;
    const startedMs = performance.now();
    for (const { nodeId } of this.mirrors.all()) {
      if (this.stopping) return;
      if (isAll || this.files.tellsOf(nodeId, changed)) await this.follow(nodeId);
    }
    this.restMs = Math.min(REST_MAX_MS, REST * (performance.now() - startedMs));
  }

  private async follow(nodeId: string): Promise<void> {
    await this.files
      .follow(nodeId)
      .catch((error: unknown) =>
        this.parts.logger.warn({ err: error, node: nodeId }, 'SVC_SCOPE.md in a folder was not refreshed'),
      );
  }
}
