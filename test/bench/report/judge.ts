import type { Target } from '../measurements/measurement.js';
import type { Line } from '../measurements/rounds.js';
import type { PlaceName } from '../places/place.js';
import type { JudgedLine, Verdict } from './report.js';

/** A ratio counts at any number of connections; a time only where nobody else waits for the same processors. */
export function judge(line: Line, target: Target, place: PlaceName): JudgedLine {
  return { ...line, verdict: verdictOf(line, target, place) };
}

function verdictOf({ connections, product, ratio }: Line, target: Target, place: PlaceName): Verdict | null {
  const most = target.ratio?.[place];
  if (most !== undefined) return { target: `≤ ${most}×`, reached: ratio <= most };
  if (target.p50Ms !== undefined && connections === 1) {
    return { target: `< ${target.p50Ms} ms`, reached: product.p50Ms < target.p50Ms };
  }
  return null;
}

export function atLeast(least: number, value: number): Verdict {
  return { target: `≥ ${least}`, reached: value >= least };
}

export function below(limit: number, value: number): Verdict {
  return { target: `< ${limit}`, reached: value < limit };
}
