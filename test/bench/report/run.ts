import { loadavg } from 'node:os';
import { progress } from '../bench-command.js';
import type { Figure } from './figures.js';
import { describeMachine, type Machine } from './machine.js';

/** What a benchmark of single figures found, and on what. */
export interface FigureReport {
  readonly at: string;
  readonly scale: string;
  readonly machine: Machine;
  /** How busy the machine was when the run began and when it ended. */
  readonly load: { readonly before: readonly number[]; readonly after: readonly number[] };
  readonly figures: readonly Figure[];
}

/** Measures one part after the other. */
export async function measureParts<Part extends string>(
  scale: string,
  parts: readonly Part[],
  measure: (part: Part) => Promise<Figure[]>,
): Promise<FigureReport> {
  const before = loadavg();
  const figures: Figure[] = [];
  for (const part of parts) {
    progress(`${part} …`);
    figures.push(...(await measure(part)));
  }
  return {
    at: new Date().toISOString(),
    scale,
    machine: describeMachine(),
    load: { before, after: loadavg() },
    figures,
  };
}

/** What was measured on, in one line; `also`: what else matters. */
export function headOf({ at, scale, machine, load }: FigureReport, also: string): string {
  const { processor, cores, memoryGB, system, node } = machine;
  const busy = (loads: readonly number[]): string => loads.map((one) => one.toFixed(1)).join(', ');
  return (
    `Scale ${scale}. ${at.slice(0, 10)}, ${processor}, ${cores} cores, ${memoryGB} GB, ${system}, Node ${node}; ` +
    `load before ${busy(load.before)}, after ${busy(load.after)}; ${also}.`
  );
}
