import { readFileSync } from 'node:fs';
import type { PlaceProcess } from './places/place.js';

/**
 * Resident megabytes by name of process, those of one name added up. Memory that several processes share is divided
 * among them where the system tells (Linux); undefined where it does not.
 */
export function residentMB(processes: readonly PlaceProcess[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { name, pid } of processes) {
    const kB = proportionalKB(pid);
    if (kB !== undefined) sums.set(name, (sums.get(name) ?? 0) + kB / 1024);
  }
  return sums;
}

function proportionalKB(pid: number): number | undefined {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]);
  } catch {
    // Another system, another user's process, or one that has just ended.
    return undefined;
  }
}
