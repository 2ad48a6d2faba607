import { hashOf } from './client-config/owned-text.js';

const MARK = /^<!-- Written by Workspace Graph, and kept up to date as long as it is unchanged \(([0-9a-f]+)\)\. -->\n/;

/** The file with the line that tells that it is ours. */
export function withMark(text: string): string {
  return `<!-- Written by Workspace Graph, and kept up to date as long as it is unchanged (${hashOf(text)}). -->\n${text}`;
}

/** What tells which text of ours a file was made from, changed or not; null in a file without it. */
export function markOf(text: string): string | null {
  return MARK.exec(text)?.[1] ?? null;
}

/** Whether a file is ours and nobody changed it. */
export function isOwnText(text: string): boolean {
  const mark = MARK.exec(text);
  return mark !== null && mark[1] === hashOf(text.slice(mark[0].length));
}
