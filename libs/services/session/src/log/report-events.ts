import {
  type appendSessionEvents,
  LIMITS,
  type OutputOf,
  type ParsedInputOf,
  type ReplyOf,
  type ReportedEvent,
  type ValidationIssue,
  validationFailed,
} from '@workspace-graph/contracts';
import { type Database, runCommand, type Transaction } from '@workspace-graph/database';
import { problemsOfQuestion } from '@workspace-graph/domain';
import type { OperationContext } from '@workspace-graph/platform';
import { askQuestions, refuseQuestions } from '../driving/questions.js';
import { lockOwnSession, type SessionRow } from '../shared/locked-session.js';
import { emitChanged, keepHandoff } from '../shared/session-changes.js';
import { type AppendedEvent, append, type NewEvent } from './append.js';
import { appendAtOnce } from './append-at-once.js';
import { KEEP_OUTPUTS } from './event.statements.js';

type Input = ParsedInputOf<typeof appendSessionEvents>;

/**
 * As `reportEvents`, in a transaction of its own. The ids of the events make it idempotent, also when its run has ended
 * meanwhile: where nothing else follows, the call is not kept.
 */
export async function report(
  database: Database,
  context: OperationContext,
  input: Input,
): Promise<ReplyOf<typeof appendSessionEvents>> {
  const events = wellFormed(input);
  const isMore = events.some(leadsToMore);
  const appended = isMore ? null : await appendAtOnce(database, context.caller, input, events.map(withSize));
  return appended ?? runCommand(database, context, (tx) => carryOutReport(tx, input, events));
}

/** Whether more is done than that it is written down. */
function leadsToMore({ kind, output }: ReportedEvent): boolean {
  return kind === 'question' || kind === 'handoff' || output !== undefined;
}

/**
 * Appends what a run reports, and carries out what follows from it.
 * @throws ServiceError SESSION_NOT_FOUND, SESSION_FORBIDDEN, NO_LIVE_RUN of another run than the live one, CONFLICT while
 * too many questions are open
 */
export async function reportEvents(tx: Transaction, input: Input): Promise<OutputOf<typeof appendSessionEvents>> {
  return await carryOutReport(tx, input, wellFormed(input));
}

async function carryOutReport(
  tx: Transaction,
  input: Input,
  events: readonly ReportedEvent[],
): Promise<OutputOf<typeof appendSessionEvents>> {
  const locking = lockOwnSession(tx, input.session_id);
  // Whether a question may be asked is looked up first; everything else is on its way while the session is locked.
  const asks = events.some(({ kind }) => kind === 'question');
  if (asks && (await locking).live_run_id === input.run_id) await refuseQuestions(tx, await locking, events);
  const log = { sessionId: input.session_id, runId: input.run_id, liveRunId: input.run_id };
  const [locked, grown] = await Promise.allSettled([locking, append(tx, log, events.map(withSize))]);
  if (locked.status === 'rejected') throw locked.reason;
  if (grown.status === 'rejected') throw grown.reason;
  const [session, appended] = [locked.value, grown.value];
  const fresh = events.filter((_event, index) => appended[index]?.is_new);
  await keepOutputs(tx, session, fresh);
  await carryOut(tx, session, fresh);
  return { seqs: appended.map(({ seq }) => seq), last_seq: lastOf(appended) };
}

function wellFormed(input: Input): readonly ReportedEvent[] {
  const events = input.events as unknown as readonly ReportedEvent[];
  refuseMalformed(events);
  return events;
}

/** Beyond the schema: ids that repeat, outputs of what has none, and questions that nobody could answer. */
function refuseMalformed(events: readonly ReportedEvent[]): void {
  const seen = new Set<string>();
  const issues = events.flatMap((event, index): ValidationIssue[] => {
    const isDouble = seen.has(event.id);
    seen.add(event.id);
    if (isDouble) return [{ path: `events.${index}.id`, message: 'is the id of an event before it' }];
    if (event.output !== undefined && event.kind !== 'tool_call')
      return [{ path: `events.${index}.output`, message: 'is that of a tool call' }];
    return event.kind === 'question' ? problemsOfQuestion(event.payload, `events.${index}.payload`) : [];
  });
  if (issues.length > 0) throw validationFailed(issues);
}

async function carryOut(tx: Transaction, session: SessionRow, fresh: readonly ReportedEvent[]): Promise<void> {
  const questions = fresh.flatMap((event) => (event.kind === 'question' ? [event.payload] : []));
  if (questions.length > 0) await askQuestions(tx, session, questions);
  const handoff = fresh.findLast((event) => event.kind === 'handoff');
  if (handoff) await keepHandoff(tx, session, { ...handoff.payload, written_by: 'agent' });
  if (questions.length > 0 || handoff) emitChanged(tx, session);
}

/** What a run says is its own: a handoff of an agent is no handoff of the server. */
function withSize(event: ReportedEvent): NewEvent {
  const at = event.at === undefined ? {} : { at: event.at };
  if (event.kind === 'handoff')
    return { id: event.id, ...at, kind: 'handoff', payload: { ...event.payload, written_by: 'agent' } };
  if (event.kind !== 'tool_call') return { id: event.id, ...at, kind: event.kind, payload: event.payload } as NewEvent;
  const { output_bytes: _told, ...payload } = event.payload;
  const size = event.output === undefined ? {} : { output_bytes: Buffer.byteLength(event.output) };
  return { id: event.id, ...at, kind: 'tool_call', payload: { ...payload, ...size } };
}

/** Whole outputs, cut where the quota of the session ends. */
function roomFor(
  session: SessionRow,
  events: readonly ReportedEvent[],
): Map<string, { text: string; isWhole: boolean }> {
  let room = LIMITS.sessionOutputBytes - session.output_bytes;
  const kept = new Map<string, { text: string; isWhole: boolean }>();
  for (const { id, output } of events) {
    if (output === undefined) continue;
    const bytes = Buffer.from(output);
    const isWhole = bytes.length <= room;
    const text = isWhole
      ? output
      : bytes
          .subarray(0, Math.max(room, 0))
          .toString('utf8')
          .replace(/\uFFFD+$/, '');
    room -= Buffer.byteLength(text);
    kept.set(id, { text, isWhole });
  }
  return kept;
}

async function keepOutputs(tx: Transaction, session: SessionRow, fresh: readonly ReportedEvent[]): Promise<void> {
  const outputs = roomFor(session, fresh);
  const kept = fresh.flatMap(({ id }) => {
    const output = outputs.get(id);
    return output ? [{ id, ...output }] : [];
  });
  if (kept.length === 0) return;
  await tx.execute(KEEP_OUTPUTS, [
    session.id,
    kept.map(({ id }) => id),
    kept.map(({ text }) => text),
    kept.map(({ isWhole }) => isWhole),
    kept.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  ]);
}

function lastOf(appended: readonly AppendedEvent[]): number {
  return Math.max(...appended.map(({ seq }) => seq));
}
