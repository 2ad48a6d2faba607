import type { ResumeMode, SessionState } from '@workspace-graph/contracts';

/** What happens to a session, with the facts on which its outcome depends. */
export type SessionTrigger =
  | { readonly kind: 'interrupt'; readonly hasLiveRun: boolean }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'resume'; readonly mode: ResumeMode; readonly canContinue: boolean }
  | { readonly kind: 'reconnect'; readonly hasLiveRun: boolean }
  | { readonly kind: 'close' }
  | { readonly kind: 'archive' };

export type TransitionRefusal = 'CONFLICT' | 'NO_LIVE_RUN';
export type Transition =
  | { readonly to: SessionState }
  | { readonly refused: TransitionRefusal; readonly message: string };

interface Row {
  readonly from: readonly SessionState[];
  readonly to: SessionState;
  /** What a session in another state cannot be. */
  readonly what: string;
}

/** `suspend` is every way to be suspended: asked for, or found to have lost its run. */
const TABLE: Readonly<Record<SessionTrigger['kind'], Row>> = {
  interrupt: { from: ['running'], to: 'running', what: 'interrupted' },
  suspend: { from: ['running'], to: 'suspended', what: 'suspended' },
  resume: { from: ['suspended'], to: 'running', what: 'resumed' },
  reconnect: { from: ['running', 'suspended'], to: 'running', what: 'resumed' },
  close: { from: ['running', 'suspended'], to: 'closed', what: 'closed' },
  archive: { from: ['closed'], to: 'archived', what: 'archived' },
};

/** Where a session goes from a state, or why it does not. */
export function transition(from: SessionState, trigger: SessionTrigger): Transition {
  const row = TABLE[trigger.kind];
  const isAllowed = row.from.includes(from);
  return (
    unmet(trigger, isAllowed) ??
    (isAllowed ? { to: row.to } : conflict(`The session is ${from}: it cannot be ${row.what}.`))
  );
}

/** Conditions beside the state. */
function unmet(trigger: SessionTrigger, isAllowed: boolean): Transition | null {
  if (trigger.kind === 'interrupt' && !(isAllowed && trigger.hasLiveRun))
    return { refused: 'NO_LIVE_RUN', message: 'No run of this session is under way that can be interrupted.' };
  if (!isAllowed) return null;
  if (trigger.kind === 'reconnect' && trigger.hasLiveRun) return conflict('The session is connected already.');
  if (trigger.kind === 'resume' && trigger.mode === 'conversation' && !trigger.canContinue)
    return conflict('The conversation of this session cannot be picked up any more: resume it from its handoff.');
  return null;
}

function conflict(message: string): Transition {
  return { refused: 'CONFLICT', message };
}
