import type { Decision, RunMode, Runner } from '@workspace-graph/contracts';

/** One run, as its holder knows it. */
export interface RunRef {
  readonly session_id: string;
  readonly run_id: string;
}

export interface WrittenHandoff {
  readonly title: string;
  readonly text: string;
}

/** What a run is to begin with. */
export interface RunOrder extends RunRef {
  readonly node_id: string | null;
  readonly owner_id: string;
  readonly runner: string;
  readonly instance_id: string | null;
  readonly policy: Readonly<Record<string, unknown>> | null;
  readonly mode: RunMode;
  readonly brief: string | null;
  readonly handoff: WrittenHandoff | null;
  /** Answers that no run has learnt yet. */
  readonly answers: readonly { readonly request_id: string; readonly decision: Decision | null }[];
}

/**
 * The runs that this service can reach: what it asks of whoever starts and drives agents. Each call may come twice.
 * Where a run is not there any more, the answer says so; what throws is tried again by nobody. A run is there from the call
 * of `start` on: what is asked of it before it has taken its work up waits.
 */
export interface SessionRuns {
  /** Under this name the leases of the runs are renewed (`renew_runs`). */
  readonly holder: string;
  /** Programs that can carry out tasks. */
  runners(): Promise<readonly Runner[]>;
  /** Resolves when the agent takes its work up; it reports under the run's id. @throws Error that says why it does not */
  start(order: RunOrder): Promise<void>;
  /** False when the run is not there. */
  message(run: RunRef, message: { readonly seq: number; readonly text: string }): Promise<boolean>;
  /** False when the run is not there. */
  answer(run: RunRef, requestId: string, decision: Decision | null): Promise<boolean>;
  /** Ends the turn. False when the run is not there. */
  interrupt(run: RunRef): Promise<boolean>;
  /**
   * Asks the agent for its handoff; null when it has not written one by the abort of `signal`. `can_continue`: whether the
   * conversation can be picked up once the run has been stopped.
   */
  handOver(
    run: RunRef,
    signal: AbortSignal,
  ): Promise<{ readonly handoff: WrittenHandoff | null; readonly can_continue: boolean }>;
  /** Ends the run and everything that belongs to it. */
  stop(run: RunRef, why: 'suspended' | 'closed'): Promise<void>;
}

/** Injection token of the process's `SessionRuns`. */
export const SESSION_RUNS = Symbol('workspace-graph:session-runs');

/** Where no runner is: agents connect by themselves. */
export const NO_RUNS: SessionRuns = {
  holder: 'nobody',
  runners: () => Promise.resolve([]),
  start: () => Promise.reject(new Error('There is no runner here.')),
  message: () => Promise.resolve(false),
  answer: () => Promise.resolve(false),
  interrupt: () => Promise.resolve(false),
  handOver: () => Promise.resolve({ handoff: null, can_continue: false }),
  stop: () => Promise.resolve(),
};
