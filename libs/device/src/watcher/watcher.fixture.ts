import { setTimeout as delay } from 'node:timers/promises';
import { Mirrors } from '../mirrors/mirrors.js';
import type { DeviceFixture } from '../testing/device.fixture.js';

const WAIT_MS = 60_000;

/** Adds a node with its folder, and tells the watcher. */
export async function watchedMirror(device: DeviceFixture, name: string): Promise<{ nodeId: string; path: string }> {
  const made = await device.mirror(name);
  const row = device.parts.store.mirror(made.nodeId);
  if (row) device.module.get(Mirrors).add(row);
  return made;
}

/** Waits until `check` passes; fails with its error when it does not in time. */
export async function eventually(check: () => unknown): Promise<void> {
  const endMs = Date.now() + WAIT_MS;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > endMs) throw error;
      await delay(50);
    }
  }
}
