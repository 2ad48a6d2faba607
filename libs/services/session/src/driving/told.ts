import { LIMITS } from '@workspace-graph/contracts';
import type { WrittenHandoff } from '../runs/session-runs.js';

/** What runs tell, made fit for a log: it comes from programs that are not ours. */

/** Why something failed, as one line of an event. */
export function lineOf(error: unknown): string {
  return fitted(error instanceof Error ? error.message : String(error), LIMITS.sessionLineLength);
}

/** A handoff as a session keeps it. */
export function fitHandoff({ title, text }: WrittenHandoff): WrittenHandoff {
  const line = fitted(title.replace(/\p{Cc}+/gu, ' ').trim(), LIMITS.nameLength)
    .normalize('NFC')
    .slice(0, LIMITS.nameLength)
    .trim();
  return { title: line === '' ? 'Handoff' : line, text: fitted(text, LIMITS.sessionTextLength) };
}

function fitted(text: string, length: number): string {
  return text.replaceAll('\u0000', ' ').slice(0, length).toWellFormed();
}
