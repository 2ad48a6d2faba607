import type { Line } from '../measurements/rounds.js';
import type { PlaceName } from '../places/place.js';
import type { Machine } from './machine.js';

/** How a figure stands to what it should reach. */
export interface Verdict {
  /** Such as `≤ 3×`. */
  readonly target: string;
  readonly reached: boolean;
}

export interface JudgedLine extends Line {
  readonly verdict: Verdict | null;
}

/** One measurement in one place. */
export interface MeasurementReport {
  readonly name: string;
  readonly title: string;
  /** Answers that were compared with those of the bare query, all equal. */
  readonly compared: number;
  readonly lines: readonly JudgedLine[];
}

/** A single figure without a bare query beside it. */
export interface Fact {
  readonly title: string;
  readonly value: number;
  readonly unit: 'ms' | 'MB' | 'MB each' | 'per second' | 'at once';
  readonly verdict: Verdict | null;
}

export interface PlaceReport {
  readonly name: PlaceName;
  readonly title: string;
  readonly measurements: readonly MeasurementReport[];
  readonly facts: readonly Fact[];
}

/** Everything that a run found; what `--json` writes. */
export interface Report {
  readonly at: string;
  readonly scale: string;
  readonly graph: { readonly nodes: number; readonly edges: number; readonly events: number; readonly users: number };
  readonly restrictedNodes: number;
  readonly secondsPerSide: number;
  readonly machine: Machine;
  readonly places: readonly PlaceReport[];
}
