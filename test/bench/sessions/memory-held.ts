import { setTimeout as sleep } from 'node:timers/promises';
import { residentMB } from '../memory.js';

/** What a process holds once its garbage is collected, in bytes. */
export interface Held {
  /** Objects, buffers and what libraries keep for them. */
  readonly heap: number;
  readonly resident: number;
}

const SETTLE_MS = 500;

export async function heldNow(): Promise<Held> {
  for (let round = 0; round < 3; round++) {
    await sleep(SETTLE_MS);
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  const resident = residentMB([{ name: 'own', pid: process.pid }]).get('own') ?? Number.NaN;
  return { heap: heapUsed + external, resident: resident * 1_048_576 };
}
