import type { Verdict } from './report.js';
import { table, verdictCells } from './tables.js';

/** One figure beside its limit. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: 'events/s' | 'MB/s' | 'ms' | 'KB' | 'MB' | 'requests' | '×' | 'KB/round' | '/round';
  /** What stands beside it, in the same unit. */
  readonly beside?: { readonly name: string; readonly value: number };
  /** Of the value to what stands beside it. */
  readonly ratio?: number;
  readonly verdict: Verdict | null;
}

const COLUMNS = ['what', 'product', 'beside', 'ratio', 'target', ''];

/** Figures beside their limits as the lines of a Markdown table. */
export function figureTable(figures: readonly Figure[]): string[] {
  return table(COLUMNS, figures.map(cells));
}

function cells({ what, value, unit, beside, ratio, verdict }: Figure): string[] {
  return [
    what,
    shown(value, unit),
    beside ? `${beside.name}: ${shown(beside.value, unit)}` : '',
    ratio === undefined ? '' : `${ratio.toFixed(2)}×`,
    ...verdictCells(verdict),
  ];
}

function shown(value: number, unit: Figure['unit']): string {
  const number = value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
  return `${number} ${unit}`;
}
