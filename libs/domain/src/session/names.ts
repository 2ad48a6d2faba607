import { LIMITS } from '@workspace-graph/contracts';

/** Name of a session whose owner has not named it: what it is about, and when it began (UTC). */
export function defaultSessionName(about: string, startedAt: Date): string {
  return within(about, ` · ${startedAt.toISOString().slice(0, 16).replace('T', ' ')}`);
}

/** The same once its agent has said in a handoff what it was about. */
export function sessionNameOf(about: string, handoffTitle: string): string {
  return within(about, ` · ${handoffTitle}`);
}

/** The end is kept as far as half of the room, the beginning gets the rest. */
function within(start: string, end: string): string {
  const tail = shortened(end, Math.max(LIMITS.nameLength / 2, LIMITS.nameLength - start.length));
  return shortened(start, LIMITS.nameLength - tail.length) + tail;
}

function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  // A pair of surrogates is not cut in two.
  return `${text
    .slice(0, length - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '')}…`;
}
