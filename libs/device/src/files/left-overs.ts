import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { SECTIONS } from '@workspace-graph/contracts';
import { isAbsent, isTemporaryName, locate, removeTemporary } from '@workspace-graph/disk';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { AGENT_FILES } from '../mirrors/client-config/agent-files.js';

/** A younger one may belong to an upload that is under way. */
const LEFT_OVER_MS = 24 * 60 * 60_000;
/** Beside the sections: where SVC_SCOPE.md and the configuration of agent clients are written. */
const CONFIG_FOLDERS = new Set(['.', ...AGENT_FILES.map(({ path }) => dirname(path))]);

interface Sweep {
  readonly nowMs: number;
  readonly deep: boolean;
}

/** Removes, after the start, what writes left behind that were cut off: temporary files older than a day. */
@Injectable()
export class LeftOvers implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private closed = false;
  private running: Promise<void> = Promise.resolve();

  constructor(@Inject(DEVICE_PARTS) private readonly parts: DeviceParts) {}

  onApplicationBootstrap(): void {
    this.running = this.sweepAll(Date.now());
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.closed = true;
    await this.running;
  }

  /** Looks into all mirrors where we write. What cannot be read is left for the next start. */
  async sweepAll(nowMs: number): Promise<void> {
    for (const { path } of this.parts.store.mirrors()) {
      for (const section of SECTIONS) await this.trySweep(path, section, { nowMs, deep: true });
      for (const folder of CONFIG_FOLDERS) await this.trySweep(path, folder, { nowMs, deep: false });
    }
  }

  private async trySweep(mirrorRoot: string, folder: string, how: Sweep): Promise<void> {
    try {
      await this.sweep(mirrorRoot, folder, how);
    } catch (error) {
      if (!isAbsent(error)) this.parts.logger.debug({ err: error }, 'leftover temporary files could not be removed');
    }
  }

  private async sweep(mirrorRoot: string, folder: string, how: Sweep): Promise<void> {
    for await (const entry of await opendir(join(mirrorRoot, folder))) {
      if (this.closed) return;
      const path = posix.join(folder, entry.name);
      if (how.deep && entry.isDirectory()) await this.sweep(mirrorRoot, path, how);
      else if (isTemporary(entry)) await removeOld(mirrorRoot, path, how.nowMs);
    }
  }
}

function isTemporary(entry: Dirent): boolean {
  return entry.isFile() && isTemporaryName(entry.name);
}

async function removeOld(mirrorRoot: string, path: string, nowMs: number): Promise<void> {
  await removeTemporary(await locate(mirrorRoot, path), (mtimeMs) => nowMs - mtimeMs >= LEFT_OVER_MS);
}
