import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { newId } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { Mirrors } from '../mirrors/mirrors.js';
import { Scanner } from '../scan/scanner.js';

/** What changes within this time is told once, and how far a scan is as often. */
const TELL_MS = 250;

/**
 * Tells the surfaces of this process that `get_sync_status` answers something else of a node: a scan has begun, gone on or
 * ended, something could not be taken in or is in order again, the folder has come or gone.
 */
@Injectable()
export class SyncNotices implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly changed = new Set<string>();
  private endings: (() => void)[] = [];
  private timer: NodeJS.Timeout | null = null;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: Pick<DeviceParts, 'bus' | 'logger'>,
    private readonly mirrors: Mirrors,
    private readonly scanner: Scanner,
  ) {}

  onApplicationBootstrap(): void {
    const note = (nodeId: string): void => this.note(nodeId);
    this.endings = [
      this.mirrors.onScan(note),
      this.mirrors.onAdded(({ nodeId }) => note(nodeId)),
      this.mirrors.onRemoved(({ nodeId }) => note(nodeId)),
      this.mirrors.onMoved(({ to }) => note(to.nodeId)),
      this.scanner.failures.onChange(note),
    ];
  }

  beforeApplicationShutdown(): void {
    for (const end of this.endings) end();
    if (this.timer) clearTimeout(this.timer);
  }

  private note(nodeId: string): void {
    this.changed.add(nodeId);
    this.timer ??= setTimeout(() => this.tell(), TELL_MS).unref();
  }

  private tell(): void {
    this.timer = null;
    const nodeIds = [...this.changed];
    this.changed.clear();
    for (const node_id of nodeIds)
      this.parts.bus
        .publish({ type: 'sync.changed', id: newId(), payload: { node_id } })
        .catch((error: unknown) => this.parts.logger.debug({ err: error }, 'a change of a folder was not told'));
    for (const nodeId of this.mirrors.scanning) this.note(nodeId);
  }
}
