const DAY_MS = 86_400_000;

/** What is of one day where somebody looks. */
export interface DayOf<T> {
  /** Its first moment. */
  readonly midnightMs: number;
  /** A moment of it. */
  readonly at: string;
  readonly items: readonly T[];
}

/** By their days, the newest first, in their order within one: what is of a whole day may stand among moments of another. */
export function groupByDay<T>(items: readonly T[], atOf: (item: T) => string): DayOf<T>[] {
  const days = new Map<number, { readonly at: string; readonly items: T[] }>();
  for (const item of items) {
    const at = atOf(item);
    const midnightMs = midnight(dateOf(at));
    const day = days.get(midnightMs);
    if (day) day.items.push(item);
    else days.set(midnightMs, { at, items: [item] });
  }
  return [...days].map(([midnightMs, day]) => ({ midnightMs, ...day })).sort((a, b) => b.midnightMs - a.midnightMs);
}

/** A date without a time is kept as its first moment in UTC. */
export function isWholeDay(at: string): boolean {
  return at.endsWith('T00:00:00.000Z');
}

/** What is of a whole day is of the same day everywhere. */
export function dateOf(at: string): Date {
  const date = new Date(at);
  return isWholeDay(at) ? new Date(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()) : date;
}

/** From one day to another one; negative where that is earlier. */
export function daysBetween(from: Date, to: Date): number {
  return Math.round((midnight(to) - midnight(from)) / DAY_MS);
}

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
