/** When a mirror is looked through for what the system did not tell of. Times in milliseconds. */
export interface LookTimes {
  /** From an event to a look at all: of what is made and removed at once, the system tells nothing. */
  readonly doubleCheckMs: number;
  /** Between looks while nothing happens. */
  readonly verifyMs: number;
  readonly verifyMaxMs: number;
  /** After an event, how long looks go on as often as after one: people edit what they made, under other names too. */
  readonly activeMs: number;
}

/** Time for each entry of the disk that a look reads: by the work it is, however long a busy machine takes for it. */
const MS_PER_ENTRY = 0.15;

/** From an event to a look at so many entries: at 50,000 files ten seconds at most. */
export function lookAfterMs(entries: number, { doubleCheckMs }: Pick<LookTimes, 'doubleCheckMs'>): number {
  return Math.max(doubleCheckMs, entries * MS_PER_ENTRY);
}

/** From a look that found all as it was told to the next one, when the last event was so long ago. */
export function verifyAfterMs(entries: number, quietMs: number, times: LookTimes): number {
  const soonMs = lookAfterMs(entries, times);
  const rareMs = Math.min(Math.max(times.verifyMs, 10 * soonMs), times.verifyMaxMs);
  return quietMs < times.activeMs ? soonMs : Math.max(soonMs, rareMs);
}
