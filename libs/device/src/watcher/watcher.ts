import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { Mirrors } from '../mirrors/mirrors.js';
import { RecordsCheck } from '../scan/records-check.js';
import { Scanner } from '../scan/scanner.js';
import type { MirrorRow } from '../store/device-store.js';
import { MirrorWatch } from './mirror-watch.js';
import { LibraryWatch } from './system/library-watch.js';
import type { SystemWatch } from './system/system-watch.js';
import { ThreadWatch } from './system/thread-watch.js';

const CHECK_MS = 1_000;

/** Watches every mirror of this device while it runs. It registers what it finds and uploads nothing. */
@Injectable()
export class Watcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly watches = new Map<string, MirrorWatch>();
  private readonly endings: (() => void)[] = [];
  private readonly background = new Set<Promise<void>>();
  private readonly system: SystemWatch = process.platform === 'linux' ? new ThreadWatch() : new LibraryWatch();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly mirrors: Mirrors,
    private readonly scanner: Scanner,
  ) {}

  /** Whether folders are watched at all. */
  get isOn(): boolean {
    return this.timer !== null;
  }

  isWatching(nodeId: string): boolean {
    return this.watches.get(nodeId)?.isWatching ?? false;
  }

  onApplicationBootstrap(): void {
    if (!this.parts.settings.watch) return;
    this.endings.push(
      this.mirrors.onAdded((row) => this.add(row)),
      this.mirrors.onRemoved(({ nodeId }) => this.remove(nodeId)),
      this.parts.files.onDoubt((nodeId, paths) => this.watches.get(nodeId)?.lookAt(paths)),
      this.mirrors.onMoved(({ to }) => {
        this.remove(to.nodeId);
        this.add(to);
      }),
    );
    for (const row of this.mirrors.all()) this.add(row);
    this.timer = setInterval(() => this.check(), CHECK_MS);
    this.inBackground(new RecordsCheck(this.parts, this.scanner, this.mirrors).run());
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const end of this.endings) end();
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    await this.scanner.beforeApplicationShutdown();
    await Promise.all([...this.watches.values()].map((watch) => watch.stop()));
    await Promise.all(this.background);
    await this.system.close();
  }

  private add(row: MirrorRow): void {
    const watch = new MirrorWatch(row, {
      scanner: this.scanner,
      mirrors: this.mirrors,
      system: this.system,
      lookAt: (nodeId, paths) => this.watches.get(nodeId)?.lookAt(paths),
      logger: this.parts.logger,
      debounceMs: this.parts.settings.debounceMs,
    });
    this.watches.set(row.nodeId, watch);
    watch.start();
  }

  private remove(nodeId: string): void {
    const watch = this.watches.get(nodeId);
    this.watches.delete(nodeId);
    if (watch) this.inBackground(watch.stop());
  }

  private check(): void {
    for (const watch of this.watches.values()) this.inBackground(watch.check());
  }

  private inBackground(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => this.parts.logger.warn({ err: error }, 'watching folders failed in the background'))
      .finally(() => this.background.delete(done));
    this.background.add(done);
  }
}
