import type { ErrorCode, SessionState } from '@workspace-graph/contracts';

/** Who acts: Olga and Otto may write and start sessions, Mara manages, Rita reads. */
export const PEOPLE = ['olga', 'otto', 'mara', 'rita'] as const;
export type Person = (typeof PEOPLE)[number];
/** A node that everybody sees, one that some see, and none. */
export const PLACES = ['open', 'shared', 'none'] as const;
export type Place = (typeof PLACES)[number];

/** What one session is, as plainly as it can be said. */
export interface ModelSession {
  readonly owner: Person;
  readonly place: Place;
  readonly origin: 'connection' | 'task';
  id: string;
  state: SessionState;
  /** The run under way. */
  run: string | null;
  /** Runs that are over. */
  readonly pastRuns: string[];
  /** Whether the program of the run has died without a word. */
  isDead: boolean;
  hasHandedOver: boolean;
  canContinue: boolean;
  givenName: string | null;
  /** Title of the last handoff of the agent. */
  title: string | null;
  readonly questions: Map<string, 'open' | 'answered'>;
  readonly log: string[];
}

/** What a call is told: a refusal, or nothing to remark. */
export type Told = ErrorCode | 'ok';

/** All sessions, and who sees the shared node. */
export class Model {
  readonly sessions: ModelSession[] = [];
  readers: readonly Person[] = ['olga'];

  sees(person: Person, place: Place, owner?: Person): boolean {
    if (place === 'none') return person === owner;
    return place === 'open' || person === 'mara' || this.readers.includes(person);
  }

  seesSession(person: Person, { place, owner }: ModelSession): boolean {
    return this.sees(person, place, owner);
  }

  /** Who may do what: `own` is the owner's alone, `stop` manage's as well; both are for those who may write. */
  tier(person: Person, session: ModelSession, tier: 'own' | 'stop' | 'internal'): Told {
    if (tier !== 'internal' && person === 'rita') return 'FORBIDDEN';
    if (!this.seesSession(person, session)) return 'SESSION_NOT_FOUND';
    const isAllowed = person === session.owner || (tier === 'stop' && person === 'mara');
    return isAllowed ? 'ok' : 'SESSION_FORBIDDEN';
  }
}

export const isDriven = ({ origin, run }: ModelSession): boolean => origin === 'task' && run !== null;
export const isOpen = ({ state }: ModelSession): boolean => state === 'running' || state === 'suspended';
export const waits = ({ questions }: ModelSession): boolean => [...questions.values()].includes('open');

/** A run ends: it is suspended, with a handoff of the server where there is none of the agent. */
export function suspended(session: ModelSession, { byAgent = false, canContinue = false } = {}): void {
  if (byAgent || !session.hasHandedOver) session.log.push('handoff');
  session.log.push('run_ended', 'state_changed');
  over(session, 'suspended');
  session.canContinue = canContinue;
}

export function closed(session: ModelSession): void {
  for (const [request, state] of session.questions) {
    if (state !== 'open') continue;
    session.questions.set(request, 'answered');
    session.log.push('answer');
  }
  if (session.run !== null) session.log.push('run_ended');
  session.log.push('state_changed');
  over(session, 'closed');
  session.canContinue = false;
}

/** A run begins in a session that was suspended. */
export function begun(session: ModelSession, run: string): void {
  session.log.push('state_changed', 'run_started');
  Object.assign(session, { state: 'running', run, isDead: false, hasHandedOver: false, canContinue: false });
}

function over(session: ModelSession, state: SessionState): void {
  if (session.run !== null) session.pastRuns.push(session.run);
  Object.assign(session, { state, run: null });
}
