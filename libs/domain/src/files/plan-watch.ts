import { assertNever } from '../assert-never.js';
import { lookAfterMs, verifyAfterMs } from './looks.js';

const TIMES = {
  verifyMs: 60_000,
  verifyMaxMs: 600_000,
  doubleCheckMs: 5_000,
  activeMs: 600_000,
  /** Longest time between looks while the system reports nothing. */
  pollMs: 30_000,
  /** Of quiet after a burst of events, of which the system may have lost some. */
  quietMs: 1_000,
  retryMs: 1_000,
  retryMaxMs: 30_000,
};
/** More changed paths than this are not kept apart: the whole mirror is scanned. */
export const MOST_PATHS = 5_000;
const BURST_EVENTS = 1_000;
/** A mirror that never falls quiet is scanned after this many windows all the same. */
const MOST_WINDOWS = 10;
const LEAST_WINDOW_MS = 500;
const NEVER = Number.POSITIVE_INFINITY;

/** What is known of a watched mirror, and when which part of it is due. Times in milliseconds of one clock. */
export interface WatchState {
  /** Time for which due paths wait for further ones; see `heldSince`. */
  readonly debounceMs: number;
  /** The identity of the folder that the system watches; null while it watches none. */
  readonly watched: { readonly identity: string | null } | null;
  /** Why the system refuses to watch, as people read it. */
  readonly trouble: string | null;
  /** Refusals in a row, which lengthen the pause before the system is asked again. */
  readonly refusals: number;
  /** What the watch needs before the next scan of all. */
  readonly renewal: WatchRenewal;
  /** Paths that may be folders which are not watched with all that is in them. */
  readonly unsure: ReadonlySet<string>;
  /** The folder is missing or unreadable. */
  readonly isAway: boolean;
  /** When each changed path is due, in the form it has on disk. */
  readonly dirty: ReadonlyMap<string, number>;
  /** When the first of the paths that are due now became due. */
  readonly heldSince: number | null;
  /** When all of the mirror is due; `putOffAll` may move it later. */
  readonly allAt: number;
  /** When all of the mirror is due at the latest; never moved later. */
  readonly allAtLatest: number;
  /** When the last scan of all began. */
  readonly scannedAt: number;
  /** Events of the system since the last scan of all began. */
  readonly eventsSinceAll: number;
  /** Number of names that the last scan of all read. */
  readonly entries: number;
  /** When the system last reported an event; at first the start. */
  readonly lastEventAt: number;
  /** Stamps of files that were still being written. */
  readonly stamps: ReadonlyMap<string, string>;
  /** Files that may be changed under other names, which the system does not report. */
  readonly linked: ReadonlySet<string>;
  /** When the files of `linked` are due; infinite when there are none. */
  readonly linkedAt: number;
  /** Failed or incomplete scans in a row, which lengthen the pause before the next one. */
  readonly retries: number;
}

/** What the watch needs before the next scan of all: `refresh` where folders may be overlooked, `reopen` where it lost more. */
export type WatchRenewal = 'keep' | 'refresh' | 'reopen';

export type WatchScope = readonly string[] | 'all';

/** What a scan returns to its watch. */
export interface WatchOutcome {
  /** Paths to scan again soon, with the stamp that they had. */
  readonly again: ReadonlyMap<string, string>;
  /** True when the same scope must be scanned again. */
  readonly isIncomplete: boolean;
  /** When all of the mirror must be scanned again at the latest; null for no such time. */
  readonly recheckAt: number | null;
  /** Number of names that the scan read. */
  readonly entries: number;
  /** Files that may be changed under other names, which the system does not report. */
  readonly linked: readonly string[];
  /** The folder is missing or unreadable. */
  readonly isAway: boolean;
}

export type WatchEvent =
  /** Of the system: what changed ('' for anything), what may be folders, and whether it lost events. */
  | { kind: 'reported'; changed: readonly string[]; unsure: readonly string[]; isBroken: boolean }
  /** Somebody knows that these paths changed. */
  | { kind: 'asked'; paths: readonly string[] }
  | { kind: 'opened'; identity: string | null }
  | { kind: 'refused'; trouble: string }
  | { kind: 'closed' }
  /** Somebody looked whether the folder is there, and which one it is. */
  | { kind: 'checked'; isReady: boolean; identity: string | null }
  | { kind: 'began'; scope: WatchScope }
  | { kind: 'misled' }
  /** `wasKnown`: the mirror was scanned to its end before. */
  | { kind: 'scanned'; scope: WatchScope; outcome: WatchOutcome; wasKnown: boolean }
  | { kind: 'failed' };

type EventOf<Kind extends WatchEvent['kind']> = Extract<WatchEvent, { readonly kind: Kind }>;

export type WatchWork =
  /** A scan of all, after the watch was renewed. */
  | { readonly kind: 'all'; readonly watch: WatchRenewal }
  | { readonly kind: 'paths'; readonly paths: readonly string[] }
  /** Those of these files that changed are to be asked for. */
  | { readonly kind: 'linked'; readonly paths: readonly string[] }
  | { readonly kind: 'wait' };

/** The mirror is due at once. */
export function newWatch(debounceMs: number, now: number): WatchState {
  return {
    debounceMs,
    watched: null,
    trouble: null,
    refusals: 0,
    renewal: 'keep',
    unsure: new Set(),
    isAway: false,
    dirty: new Map(),
    heldSince: null,
    allAt: now,
    allAtLatest: NEVER,
    scannedAt: 0,
    eventsSinceAll: 0,
    entries: 0,
    lastEventAt: now,
    stamps: new Map(),
    linked: new Set(),
    linkedAt: NEVER,
    retries: 0,
  };
}

/** When `planWatch` is to be asked. */
export function watchDueAt({ allAt, linkedAt, dirty }: WatchState): number {
  let dueAt = Math.min(allAt, linkedAt);
  for (const at of dirty.values()) dueAt = Math.min(dueAt, at);
  return dueAt;
}

/** Decides what to do now. One piece of work follows the other; `watchAfter` learns when a scan begins and ends. */
export function planWatch(state: WatchState, now: number): { readonly state: WatchState; readonly work: WatchWork } {
  if (state.allAt <= now)
    return { state: { ...state, renewal: 'keep' }, work: { kind: 'all', watch: renewalOf(state) } };
  const due = [...state.dirty].flatMap(([path, at]) => (at <= now ? path : []));
  if (due.length > 0) return planPaths(state, due, now);
  if (state.linkedAt > now) return { state, work: { kind: 'wait' } };
  const linkedAt = now + lookAfterMs(state.linked.size, TIMES);
  return { state: { ...state, linkedAt }, work: { kind: 'linked', paths: [...state.linked] } };
}

/** After a burst the system may have lost events. */
function renewalOf({ renewal, eventsSinceAll }: WatchState): WatchRenewal {
  return renewal === 'keep' && eventsSinceAll >= BURST_EVENTS ? 'refresh' : renewal;
}

/** Waits one more window for what is about to be due: the other half of a move may be among it. */
function planPaths(state: WatchState, due: readonly string[], now: number): ReturnType<typeof planWatch> {
  const heldSince = state.heldSince ?? now;
  const heldUntil = heldSince + state.debounceMs;
  if (due.length === state.dirty.size || heldUntil <= now)
    return { state: { ...state, heldSince: null }, work: { kind: 'paths', paths: due } };
  const rest = Math.min(...[...state.dirty.values()].filter((at) => at > now), heldUntil);
  return { state: { ...state, heldSince, dirty: withPaths(state.dirty, due, rest) }, work: { kind: 'wait' } };
}

/** What is known after something happened. */
export function watchAfter(state: WatchState, event: WatchEvent, now: number): WatchState {
  switch (event.kind) {
    case 'reported':
      return afterReport(state, event, now);
    case 'asked':
      return { ...state, dirty: withPaths(state.dirty, event.paths, now + state.debounceMs) };
    case 'opened':
      return { ...state, watched: { identity: event.identity }, trouble: null, refusals: 0 };
    case 'refused':
      return { ...state, trouble: event.trouble, refusals: state.refusals + 1 };
    case 'closed':
      return { ...state, watched: null, renewal: 'keep' };
    case 'checked':
      return afterCheck(state, event, now);
    case 'began':
      return afterBegin({ ...state, unsure: new Set() }, event.scope, now);
    case 'misled':
      return putOffAll(
        { ...state, renewal: state.renewal === 'keep' ? 'refresh' : state.renewal },
        now + TIMES.quietMs,
        now,
      );
    case 'scanned':
      return afterScan(state, event, now);
    case 'failed':
      return retryAll(state, now);
    default:
      return assertNever(event);
  }
}

function afterReport(state: WatchState, report: EventOf<'reported'>, now: number): WatchState {
  const { changed, unsure, isBroken } = report;
  const reported: WatchState = {
    ...state,
    renewal: isBroken ? 'reopen' : state.renewal,
    allAt: isBroken ? Math.min(state.allAt, now + state.debounceMs) : state.allAt,
    unsure: state.unsure.size < MOST_PATHS ? new Set([...state.unsure, ...unsure]) : state.unsure,
    eventsSinceAll: state.eventsSinceAll + changed.length,
  };
  if (changed.length === 0) return reported;
  const marked = markPaths(reported, changed, now);
  const allAt = Math.min(marked.allAt, now + lookAfterMs(state.entries, TIMES));
  const next = { ...marked, allAt, lastEventAt: now };
  return renewalOf(next) === 'refresh' ? putOffAll(next, now + TIMES.quietMs, now) : next;
}

/** Paths are due once they held still; all of the mirror when they are too many to be kept apart. */
function markPaths(state: WatchState, paths: Iterable<string>, now: number): WatchState {
  const dueAt = now + state.debounceMs;
  const dirty = new Map(state.dirty);
  let isAll = false;
  for (const path of paths)
    if (path === '' || dirty.size >= MOST_PATHS) isAll = true;
    else dirty.set(path, dueAt);
  return isAll ? putOffAll({ ...state, dirty }, dueAt, now) : { ...state, dirty };
}

function putOffAll(state: WatchState, at: number, now: number): WatchState {
  const mostMs = MOST_WINDOWS * Math.max(state.debounceMs, LEAST_WINDOW_MS);
  const allAtLatest = state.allAtLatest === NEVER ? now + mostMs : state.allAtLatest;
  return { ...state, allAtLatest, allAt: Math.min(at, allAtLatest) };
}

/** A folder that was taken away, came back or is another one is watched anew. */
function afterCheck(state: WatchState, { isReady, identity }: EventOf<'checked'>, now: number): WatchState {
  const isOther = isReady && state.watched !== null && state.watched.identity !== identity;
  return isReady === state.isAway || isOther ? { ...state, isAway: !isReady, renewal: 'reopen', allAt: now } : state;
}

function afterBegin(state: WatchState, scope: WatchScope, now: number): WatchState {
  if (scope !== 'all') {
    const begun = new Set(scope);
    return { ...state, dirty: new Map([...state.dirty].filter(([path]) => !begun.has(path))) };
  }
  const nothingDue = { dirty: new Map(), heldSince: null, allAt: NEVER, allAtLatest: NEVER };
  return { ...state, ...nothingDue, eventsSinceAll: 0, scannedAt: now };
}

function afterScan(state: WatchState, { scope, outcome, wasKnown }: EventOf<'scanned'>, now: number): WatchState {
  const { recheckAt, again, isIncomplete, entries, isAway } = outcome;
  const linked = withLinked(state, scope === 'all' ? outcome.linked : [...state.linked, ...outcome.linked], now);
  const stamps = new Map([...[...state.stamps].filter(([path]) => state.dirty.has(path)), ...again]);
  const allAt = Math.min(state.allAt, recheckAt ?? NEVER);
  const next = markPaths({ ...state, ...linked, stamps, allAt }, again.keys(), now);
  if (scope === 'all' && isIncomplete) return retryAll({ ...next, entries, isAway }, now);
  if (scope === 'all') return verifyLater({ ...next, entries, isAway, retries: 0 }, wasKnown, now);
  if (!isIncomplete) return { ...next, retries: 0 };
  return { ...next, retries: next.retries + 1, dirty: withPaths(next.dirty, scope, retryAt(next, now)) };
}

/** After a scan that found all; the first one takes nothing for deleted. */
function verifyLater(state: WatchState, wasKnown: boolean, now: number): WatchState {
  const { entries, trouble, scannedAt, lastEventAt } = state;
  const soonMs = wasKnown ? verifyAfterMs(entries, scannedAt - lastEventAt, TIMES) : lookAfterMs(entries, TIMES);
  return { ...state, allAt: Math.min(state.allAt, now + (trouble === null ? soonMs : askAgainMs(state))) };
}

/** A refusal may be of a moment; what lasts is asked for as often as the folder is to be looked through. */
function askAgainMs({ entries, refusals }: WatchState): number {
  const pauseMs = lookAfterMs(entries, { doubleCheckMs: TIMES.retryMs * 2 ** (refusals - 1) });
  return Math.min(pauseMs, TIMES.pollMs);
}

function withLinked(state: WatchState, paths: readonly string[], now: number): Pick<WatchState, 'linked' | 'linkedAt'> {
  const linked = new Set(paths);
  const linkedAt = linked.size === 0 ? NEVER : Math.min(state.linkedAt, now + lookAfterMs(linked.size, TIMES));
  return { linked, linkedAt };
}

function retryAll(state: WatchState, now: number): WatchState {
  return { ...state, retries: state.retries + 1, allAt: Math.min(state.allAt, retryAt(state, now)) };
}

function retryAt({ retries }: WatchState, now: number): number {
  return now + Math.min(TIMES.retryMs * 2 ** retries, TIMES.retryMaxMs);
}

function withPaths(
  dirty: ReadonlyMap<string, number>,
  paths: readonly string[],
  at: number,
): ReadonlyMap<string, number> {
  return new Map([...dirty, ...paths.map((path) => [path, at] as const)]);
}
