import type { Machine } from '../report/machine.js';
import type { Verdict } from '../report/report.js';
import { table, verdictCells } from '../report/tables.js';

/** One figure beside its limit. */
export interface SessionFigure {
  readonly what: string;
  readonly value: number;
  readonly unit: 'events/s' | 'ms' | 'KB' | '×';
  /** What stands beside it, in the same unit. */
  readonly beside?: { readonly name: string; readonly value: number };
  /** Of the value to what stands beside it. */
  readonly ratio?: number;
  readonly verdict: Verdict | null;
}

export interface SessionReport {
  readonly at: string;
  readonly scale: string;
  readonly machine: Machine;
  /** How busy the machine was when the run began and when it ended. */
  readonly load: { readonly before: readonly number[]; readonly after: readonly number[] };
  /** How the database keeps what it has confirmed, for both sides. */
  readonly durability: string;
  readonly figures: readonly SessionFigure[];
}

const COLUMNS = ['what', 'product', 'beside', 'ratio', 'target', ''];

/** The report as Markdown. */
export function printSessionReport({ at, scale, machine, load, durability, figures }: SessionReport): string {
  const busy = (loads: readonly number[]): string => loads.map((one) => one.toFixed(1)).join(', ');
  return [
    `Scale ${scale}. ${at.slice(0, 10)}, ${machine.processor}, ${machine.cores} cores, ${machine.memoryGB} GB, ${machine.system}, Node ${machine.node}; ` +
      `load before ${busy(load.before)}, after ${busy(load.after)}; ${durability}.`,
    '',
    ...table(COLUMNS, figures.map(cells)),
  ].join('\n');
}

function cells({ what, value, unit, beside, ratio, verdict }: SessionFigure): string[] {
  return [
    what,
    shown(value, unit),
    beside ? `${beside.name}: ${shown(beside.value, unit)}` : '',
    ratio === undefined ? '' : `${ratio.toFixed(2)}×`,
    ...verdictCells(verdict),
  ];
}

function shown(value: number, unit: SessionFigure['unit']): string {
  const number = value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
  return `${number} ${unit}`;
}
