import { randomUUID } from 'node:crypto';
import {
  appendSessionEvents,
  connectSession,
  endRun,
  getSession,
  type InputOf,
  listSessionEvents,
  type Operation,
  type OutputOf,
  type ReportedEvent,
  type Session,
  type SessionEvent,
  startSession,
} from '@workspace-graph/contracts';
import type { ScriptedRuns } from './scripted-runs.js';

/** A session that a test has connected, with the run that holds it. */
export interface Connected {
  readonly session: Session;
  readonly run_id: string;
}

/** An event of a run, which gets an id where it has none. */
export type Reported = Omit<ReportedEvent, 'id'> & { readonly id?: string };

/** How one person calls operations; `callId`: default one of its own. */
export type Call = <Op extends Operation>(operation: Op, input: InputOf<Op>, callId?: string) => Promise<OutputOf<Op>>;

/** Input of a report. */
export function reportOf(
  { session, run_id }: Connected,
  events: readonly Reported[],
): InputOf<typeof appendSessionEvents> {
  const given = events.map((event) => ({ id: randomUUID(), ...event })) as InputOf<
    typeof appendSessionEvents
  >['events'];
  return { session_id: session.id, run_id, events: given };
}

/** What one person and the holders of their runs do with sessions. */
export class SessionCalls {
  constructor(
    readonly call: Call,
    readonly runs: ScriptedRuns,
    readonly nodeId: string,
  ) {}

  /** An agent connects, by the holder `edge-1`, and on the node where the input names none. */
  async connect(input: Partial<InputOf<typeof connectSession>> = {}): Promise<Connected> {
    const run_id = input.run_id ?? randomUUID();
    const client = { name: 'test-agent', title: 'Test Agent', version: '1.0' };
    const home = 'node_id' in input || input.session_id ? {} : { node_id: this.nodeId };
    const { session } = await this.call(connectSession, { holder: 'edge-1', client, ...home, ...input, run_id });
    return { session, run_id };
  }

  /** A task is started. */
  async task(): Promise<Connected> {
    const input = { node_id: this.nodeId, brief: 'Write the draft.', runner: 'scripted' };
    const session = await this.call(startSession, input);
    const order = this.runs.orders.findLast((made) => made.session_id === session.id);
    if (!order) throw new Error('The task has not started');
    return { session, run_id: order.run_id };
  }

  get(id: string): Promise<Session> {
    return this.call(getSession, { session_id: id });
  }

  async log(id: string): Promise<SessionEvent[]> {
    const { items } = await this.call(listSessionEvents, { session_id: id, limit: 2_000 });
    return items as unknown as SessionEvent[];
  }

  /** A run reports, for its owner. */
  report(connected: Connected, events: readonly Reported[], callId?: string) {
    return this.call(appendSessionEvents, reportOf(connected, events), callId);
  }

  end({ session, run_id }: Connected, input: Omit<InputOf<typeof endRun>, 'session_id' | 'run_id'>) {
    return this.call(endRun, { session_id: session.id, run_id, ...input });
  }
}
