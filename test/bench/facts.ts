import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadProcess } from './load/load-process.js';
import { quantile } from './measurements/figures.js';
import { residentMB } from './memory.js';
import type { FreshEdge, Place, StartTimes } from './places/place.js';
import { atLeast, below } from './report/judge.js';
import type { Fact } from './report/report.js';

const SESSIONS_PER_SECOND = 300;
const MB_PER_SESSION = 0.2;
const SETTLE_MS = 500;
/** Sessions that make the code warm and count for nothing. */
const WARM_UP = 30;

/** Memory of the processes of a place; none of the product's own is to exceed `mostMB`. */
export function memoryFacts(place: Place, when: string, mostMB?: number): Fact[] {
  return [...residentMB(place.processes())].map(([name, value]) => {
    const verdict = mostMB === undefined || name === 'embedded database' ? null : below(mostMB, value);
    return fact(`memory, ${name}, ${when}`, value, 'MB', verdict);
  });
}

/** How long the starts took. */
export function startFacts(startedMs: StartTimes): Fact[] {
  return Object.entries(startedMs).map(([what, value]) => fact(`${what}, until ready`, value, 'ms'));
}

/**
 * How fast MCP sessions open, and what many of them cost the process that holds them; in a process that was started a
 * moment ago, since one that had much to do before has room left and would seem to need nothing.
 */
export async function sessionFacts(
  { url, pid }: FreshEdge,
  { load, token, count }: { readonly load: LoadProcess; readonly token: string; readonly count: number },
): Promise<Fact[]> {
  const endpoint = { url, token };
  await load.openSessions(endpoint, WARM_UP);
  const before = await settledMB(pid);
  const { tookMs, elapsedMs } = await load.openSessions(endpoint, count);
  const opened = await settledMB(pid);
  await load.listenOnSessions();
  const listening = await settledMB(pid);
  await load.endSessions();
  const perSecond = count / (elapsedMs / 1_000);
  const [held, heard] = [(opened - before) / count, (listening - before) / count];
  return [
    fact('MCP sessions opened, 16 at a time', perSecond, 'per second', atLeast(SESSIONS_PER_SECOND, perSecond)),
    fact('MCP handshake, p50', quantile(tookMs.sort(), 0.5), 'ms'),
    fact('MCP sessions open', count, 'at once'),
    fact('memory of an MCP session', held, 'MB each', below(MB_PER_SESSION, held)),
    fact('memory of an MCP session with its stream', heard, 'MB each', below(MB_PER_SESSION, heard)),
  ];
}

function fact(title: string, value: number, unit: Fact['unit'], verdict: Fact['verdict'] = null): Fact {
  return { title, value, unit, verdict };
}

async function settledMB(pid: number): Promise<number> {
  await sleep(SETTLE_MS);
  return residentMB([{ name: 'edge', pid }]).get('edge') ?? Number.NaN;
}
