import type { Burst } from '../load/messages.js';

export interface Figures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
  readonly shots: number;
  /** Besides these: refused as too much at once. */
  readonly refused: number;
}

/** Of all bursts together. What is not timed does not count into the rate either. */
export function figuresOf(bursts: readonly Burst[]): Figures {
  const tookMs = Float64Array.from(bursts.flatMap((burst) => [...burst.tookMs])).sort();
  const connections = bursts[0]?.connections ?? 1;
  const busyMs = tookMs.reduce((sum, each) => sum + each, 0) / connections;
  return {
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
    perSecond: tookMs.length / (busyMs / 1_000),
    shots: tookMs.length,
    refused: bursts.reduce((sum, burst) => sum + burst.refused, 0),
  };
}

export function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.5);
}
