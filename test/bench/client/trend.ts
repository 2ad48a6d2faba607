/** A line through points, by least squares. */
export interface Trend {
  /** Growth of y for each x. */
  readonly slope: number;
  /** Standard error of the slope; not a number where fewer than three points leave nothing to tell it from. */
  readonly error: number;
}

/** How many standard errors a slope may be off by chance. */
const ERRORS = 2;

/** @param points x and y of each, with at least two different x */
export function trendOf(points: readonly (readonly [number, number])[]): Trend {
  const count = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const left = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, error: count < 3 ? Number.NaN : Math.sqrt(left / (count - 2) / spread) };
}

/** Whether something stays as it is: it grows by less than this, or by no more than chance can make it. */
export function isFlat({ slope, error }: Trend, below: number): boolean {
  return slope < below || slope <= ERRORS * error;
}
