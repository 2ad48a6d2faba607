import type { SessionEvent } from '@workspace-graph/contracts';

export type FileChange = Extract<SessionEvent, { readonly kind: 'file_change' }>;

/** Events within which changes join: a block has an end, and begins at the same one whatever is known beside it. */
const TOGETHER = 25;

/** What is known of a log. */
interface Known {
  at(seq: number): SessionEvent | undefined;
  /** The beginning of a call whose end is shown in its place. */
  isEnded(event: SessionEvent): boolean;
}

/** Whether a change of a file is shown with the one before it, between which nothing is shown. */
export function isJoined(log: Known, { seq }: FileChange): boolean {
  for (let at = seq - 1; blockOf(at) === blockOf(seq); at--) {
    const event = log.at(at);
    if (!event || !log.isEnded(event)) return event?.kind === 'file_change';
  }
  return false;
}

/** The changes that are shown together, from the first of them on. */
export function changesFrom(log: Known, first: FileChange): readonly FileChange[] {
  const changes = [first];
  for (let at = first.seq + 1; blockOf(at) === blockOf(first.seq); at++) {
    const event = log.at(at);
    if (event?.kind === 'file_change') changes.push(event);
    else if (!event || !log.isEnded(event)) break;
  }
  return changes;
}

function blockOf(seq: number): number {
  return Math.floor((seq - 1) / TOGETHER);
}
