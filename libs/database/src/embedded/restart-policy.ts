/** How a server that ends unexpectedly is restarted. */
export interface RestartPolicy {
  /** More ends than this within `withinMs` are too many. */
  readonly mostEnds: number;
  /** Length of the window in which ends are counted. */
  readonly withinMs: number;
  /** The first start comes at once, the second after this time, each further one after twice as long. */
  readonly pauseMs: number;
  /** Upper limit of the pause before a restart. */
  readonly longestPauseMs: number;
}

export const usualPolicy: RestartPolicy = {
  mostEnds: 5,
  withinMs: 600_000,
  pauseMs: 250,
  longestPauseMs: 5_000,
};

/** A server ended by itself, or could not be started. */
export interface Failure {
  readonly atMs: number;
  /** Goes by itself when the disk has room again, and may happen as often as it likes. */
  readonly passing: boolean;
}

/** The failures that still count when another one happens. */
export function withFailure(policy: RestartPolicy, failures: readonly Failure[], failure: Failure): readonly Failure[] {
  return [...failures.filter(({ atMs }) => failure.atMs - atMs < policy.withinMs), failure];
}

/** Milliseconds until the next start after these failures; null when there were too many. */
export function pauseBefore(policy: RestartPolicy, failures: readonly Failure[]): number | null {
  if (failures.filter(({ passing }) => !passing).length > policy.mostEnds) return null;
  return failures.length < 2 ? 0 : Math.min(policy.pauseMs * 2 ** (failures.length - 2), policy.longestPauseMs);
}
