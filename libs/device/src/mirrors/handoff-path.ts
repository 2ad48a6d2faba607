/** Handoffs of sessions, in the folder of a node; nothing in it is tracked. */
export const HANDOFF_FOLDER = '.svc/handoffs';

/** Where the handoff of a session lies in the folder of its node. */
export function handoffPathOf(sessionId: string): string {
  return `${HANDOFF_FOLDER}/${sessionId}.md`;
}
