import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ServiceError } from '@workspace-graph/contracts';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { Mirrors } from './mirrors.js';

/**
 * Where the centre may be out of reach: asks it what the nodes of the mirrors are whenever that may have changed, so that it
 * is known when nobody can be asked. The answers are remembered by whoever asks for them; a node that is gone is doubted.
 */
@Injectable()
export class PlaceKeeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stops: (() => Promise<void> | void)[] = [];
  private looking: Promise<void> | null = null;
  private isDue = false;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { bus, settings } = this.parts;
    if (!settings.sharesRecords) return;
    const accesses = await bus.subscribe(['access.changed'], () => this.look());
    const endStatus = bus.onStatus((status) => {
      if (status === 'ready') this.look();
    });
    this.stops.push(
      () => accesses.stop(),
      endStatus,
      this.mirrors.onAdded(() => this.look()),
    );
    this.look();
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const stop of this.stops.splice(0)) await stop();
    this.isDue = false;
    await this.looking;
  }

  /** Soon, and once more if something comes up meanwhile. */
  private look(): void {
    this.isDue = true;
    this.looking ??= this.lookWhileDue().finally(() => {
      this.looking = null;
    });
  }

  private async lookWhileDue(): Promise<void> {
    while (this.isDue) {
      this.isDue = false;
      const nodeIds = this.mirrors.all().map(({ nodeId }) => nodeId);
      try {
        const seen = await this.parts.service.places(nodeIds, null);
        for (const nodeId of nodeIds) if (!seen.has(nodeId)) this.mirrors.doubt(nodeId);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        this.parts.logger.debug({ err: error }, 'what the nodes of the folders are could not be asked');
      }
    }
  }
}
