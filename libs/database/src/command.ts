import { hash } from 'node:crypto';
import {
  type BusEventPayload,
  type BusEventType,
  type Caller,
  callIdReused,
  type Envelope,
  type JsonFacts,
  OPERATIONS,
  type Operation,
  RawJson,
  ServiceError,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import type pg from 'pg';
import { type Database, type Ending, inTransaction, type JsonRow, rawJsonOf } from './database.js';
import { translateDatabaseError } from './database-error.js';
import { type Statement, statement } from './statement.js';
import { seenBy, VISIBLE } from './visibility.js';

/** Who changes something, through which call. An operation's context fits. */
export interface CommandContext {
  /** Its `callId` is the idempotency key: a call id is applied once. */
  readonly envelope: Envelope;
  /** Written to the audit trail, with `via`. */
  readonly caller: Caller;
  /** Its name is stored with the kept reply. */
  readonly operation: Pick<Operation, 'name'> & Partial<Pick<Operation, 'owner' | 'mcp'>>;
  /** What distinguishes this request from another one under the same call id, which is refused with CONFLICT. */
  readonly input: unknown;
  /** What the commit, and any answer, waits for; everything is rolled back when it rejects. */
  readonly admission?: () => Promise<void>;
}

interface AuditLine {
  /** Name of the operation. */
  readonly action: string;
  /** Changed fields before the change; absent for a new record. */
  readonly before?: Readonly<Record<string, unknown>>;
  /** Changed fields after the change; absent for a removed record. */
  readonly after?: Readonly<Record<string, unknown>>;
}

/** Ids of the nodes in whose history a line stands. */
type Concerned = readonly [string, ...string[]];

/** Of a node. It stands in the history of that node; `concerns`: and in those of others, of which it moves an edge. */
interface NodeLine extends AuditLine {
  readonly targetKind: 'node';
  readonly targetId: string;
  readonly concerns?: readonly string[];
}

/** Of what hangs on nodes: for an edge both of its ends, for a file that moves both of its nodes. */
interface PartLine extends AuditLine {
  readonly targetKind: 'responsibility' | 'data_source' | 'tool' | 'edge' | 'event' | 'file' | 'access_request';
  readonly targetId: string;
  readonly concerns: Concerned;
}

/** Of a session: its home node, null where it has none, and the nodes that enter or leave its scope. */
interface SessionLine extends AuditLine {
  readonly targetKind: 'session';
  readonly targetId: string;
  readonly concerns: readonly (string | null)[];
}

/** Of what hangs on no node. */
interface OtherLine extends AuditLine {
  readonly targetKind: 'user' | 'group' | 'token' | 'device' | 'actor' | 'position' | 'remote' | 'workspace';
  /** Null for a change of the whole workspace. */
  readonly targetId: string | null;
}

/** One line of the audit trail; `before` and `after` hold the changed fields only. */
export type AuditRecord = NodeLine | PartLine | SessionLine | OtherLine;

interface CommandOptions {
  /** False for replies with a secret: they are not kept, and a repeated call is refused with CONFLICT. */
  readonly keepReply?: boolean;
  readonly timeoutMs?: number;
}

/** Ends a command that waits for confirmation: everything is rolled back and `reply` answered. */
export class UnconfirmedChange extends Error {
  constructor(readonly reply: unknown) {
    super('The change needs confirmation.');
    this.name = 'UnconfirmedChange';
  }
}

const SAVEPOINT = statement('command.savepoint', 'SAVEPOINT part');
const RELEASE_SAVEPOINT = statement('command.release_savepoint', 'RELEASE SAVEPOINT part');
const ROLLBACK_TO_SAVEPOINT = statement('command.rollback_to_savepoint', 'ROLLBACK TO SAVEPOINT part');

/** Where rows are read: one connection, or any of the pool. */
export interface RowSource {
  /** Runs a statement and returns all its rows. @throws ServiceError, or the error of the driver */
  rows<T extends Record<string, unknown>>(sql: Statement, values: readonly unknown[]): Promise<T[]>;
}

/** What carries statements out, on one connection. */
export interface StatementRunner {
  /** Runs a statement and returns all its rows. @throws the error of the driver, untranslated */
  rows<T>(sql: Statement, values: readonly unknown[]): Promise<T[]>;
  /** Runs a statement and returns the number of affected rows. @throws the error of the driver, untranslated */
  execute(sql: Statement, values: readonly unknown[]): Promise<number>;
}

/** What a command works with: hand-written SQL in one transaction, audit and events. */
export class Transaction {
  private readonly audits: AuditRecord[] = [];
  private readonly events: { type: BusEventType; payload: unknown }[] = [];
  private readonly made: string[] = [];
  private readonly sights = new Set<string>();
  /** The operation that the caller asked for. */
  private asked: Pick<Operation, 'name'> & Partial<Pick<Operation, 'mcp'>>;

  constructor(
    private readonly runner: StatementRunner,
    readonly context: CommandContext,
  ) {
    this.asked = context.operation;
  }

  /** Rows of hand-written SQL. Give every parameter a cast, and cast bigint, numeric and times to what the code reads. */
  rows<T>(sql: Statement, values: readonly unknown[] = []): Promise<T[]> {
    return this.runner.rows<T>(sql, values);
  }

  async row<T>(sql: Statement, values: readonly unknown[] = []): Promise<T | null> {
    return (await this.rows<T>(sql, values))[0] ?? null;
  }

  /** As `Database.json`, within the transaction. */
  async json(sql: Statement, values: readonly unknown[] = []): Promise<RawJson | null> {
    return rawJsonOf(await this.row<JsonRow>(sql, values));
  }

  /** Number of rows changed. */
  execute(sql: Statement, values: readonly unknown[] = []): Promise<number> {
    return this.runner.execute(sql, values);
  }

  /** Adds a line to the audit trail; written with the transaction. */
  audit(record: AuditRecord): void {
    this.audits.push(record);
  }

  /**
   * Notes nodes that the caller must see to be told the reply. A repeated call is answered with the kept reply only while
   * the caller sees all of them. To be called wherever a command has found that the caller sees a node; a node that the
   * command itself removes is left out, so that its removal can be repeated.
   */
  restOn(...nodeIds: readonly string[]): void {
    for (const nodeId of nodeIds) this.sights.add(nodeId);
  }

  /** Names the operation that the caller asked for, where it has asked another service for this one. */
  askedFor(operation: string): void {
    this.asked = OPERATIONS.get(operation) ?? { name: operation };
  }

  /** Notes a node that the command has made: the session that works belongs to it from now on. */
  created(nodeId: string): void {
    this.made.push(nodeId);
  }

  /** Tells the other services after the commit. */
  emit<T extends BusEventType>(type: T, payload: BusEventPayload<T>): void {
    this.events.push({ type, payload });
  }

  /** Does a part of the change. When that is refused, it alone is taken back, and the change can go on. */
  async attempt<T>(part: () => Promise<T>): Promise<T> {
    const lists = [this.audits, this.events, this.made];
    const lengths = lists.map((list) => list.length);
    await this.execute(SAVEPOINT);
    try {
      const result = await part();
      await this.execute(RELEASE_SAVEPOINT);
      return result;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      await this.execute(ROLLBACK_TO_SAVEPOINT);
      await this.execute(RELEASE_SAVEPOINT);
      for (const [index, list] of lists.entries()) list.splice(lengths[index] ?? 0);
      throw error;
    }
  }

  /** What changes nothing on record leaves nothing in the log of a session, and sessions write theirs themselves. */
  private get recordsCall(): boolean {
    return this.audits.length > 0 && this.context.operation.owner !== 'session';
  }

  /** Writes audit trail, log of the session, outbox and the applied call in one statement. Called once, last. */
  async flush(reply: unknown, keepReply: boolean): Promise<void> {
    const { envelope, caller, operation } = this.context;
    await this.execute(FLUSH, [
      JSON.stringify(
        this.audits.map((audit) => ({
          id: newId(),
          action: audit.action,
          target_kind: audit.targetKind,
          target_id: audit.targetId,
          before: audit.before ?? null,
          after: audit.after ?? null,
          concerns: concernedBy(audit),
        })),
      ),
      JSON.stringify(this.events.map((event) => ({ id: newId(), ...event }))),
      caller.via === 'system' ? null : caller.user_id,
      caller.via,
      envelope.requestId,
      envelope.callId,
      operation.name,
      requestHash(this.context),
      keepReply ? toJsonText(reply) : null,
      [...this.sights],
      this.recordsCall ? caller.session_id : null,
      newId(),
      this.asked.mcp?.title ?? titleOf(this.asked.name),
      this.made,
      newId(),
      newId(),
      caller.session_id ?? null,
      this.asked.name,
    ]);
  }
}

/** Each node once. */
function concernedBy(audit: AuditRecord): string[] {
  const own = audit.targetKind === 'node' ? [audit.targetId] : [];
  const others = 'concerns' in audit ? (audit.concerns ?? []) : [];
  return [...new Set([...own, ...others.filter((id) => id !== null)])];
}

/** `apply_file_changes` → `Apply file changes`. */
function titleOf(name: string): string {
  return `${name[0]?.toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;
}

/**
 * Runs a change as one transaction: all of it with its audit lines and events, or nothing. A call id that was applied
 * before is not applied again: its first reply is answered while the caller sees every node that it rests on
 * (`Transaction.restOn`). When one of them is hidden from the caller by now, or purged, the answer is that of a new
 * call; where a new call would be carried out, CONFLICT.
 */
export async function runCommand<R>(
  database: Database,
  context: CommandContext,
  work: (tx: Transaction) => Promise<R>,
  options: CommandOptions = {},
): Promise<R | RawJson> {
  return appliedOnce(database, context, () =>
    database.transaction((client) => carryOut(runnerOn(client), context, work, options), options.timeoutMs),
  );
}

/** A change that is prepared at length before its transaction begins. */
export interface PreparedWork<P, R> {
  /** Runs outside the transaction, on its connection: what it keeps in temporary tables is there for `change`. */
  prepare(runner: StatementRunner): Promise<P>;
  /** The change itself, in the transaction that begins after `prepare`. */
  change(tx: Transaction, prepared: P): Promise<R>;
}

/**
 * As `runCommand`, for a change whose preparation takes long. The connection belongs to it alone, and is closed when
 * the caller gives up. The same call elsewhere waits before it does any work until this one has ended; it then answers
 * what this one did, or goes on in its place.
 */
export async function runPreparedCommand<P, R>(
  database: Database,
  context: CommandContext & { readonly signal: AbortSignal },
  { prepare, change }: PreparedWork<P, R>,
  timeoutMs: number,
): Promise<R | RawJson> {
  return appliedOnce(database, context, () =>
    database.session(async (client) => {
      const runner = runnerOn(client);
      await client.query(`SET statement_timeout = ${timeoutMs}; SET idle_session_timeout = ${IDLE_SESSION_MS}`);
      await runner.execute(LOCK_CALL, [context.envelope.callId]);
      const applied = await findApplied(runner, context);
      if (applied === 'unseen') throw notRepeated();
      if (applied) return applied;
      const prepared = await prepare(runner);
      return inTransaction(client, () => carryOut(runner, context, (tx) => change(tx, prepared)), timeoutMs);
    }, context.signal),
  );
}

function runnerOn(client: pg.PoolClient): StatementRunner {
  const query = ({ name, text }: Statement, values: readonly unknown[]) =>
    client.query({ name, text, values: [...values] });
  return {
    rows: async <T>(sql: Statement, values: readonly unknown[]) => (await query(sql, values)).rows as T[],
    execute: async (sql, values) => (await query(sql, values)).rowCount ?? 0,
  };
}

async function carryOut<R>(
  runner: StatementRunner,
  context: CommandContext,
  work: (tx: Transaction) => Promise<R>,
  { keepReply = true }: CommandOptions = {},
): Promise<Ending<R>> {
  const tx = new Transaction(runner, context);
  const reply = await work(tx);
  await context.admission?.();
  return { result: reply, last: () => tx.flush(reply, keepReply) };
}

/**
 * Carries a change out; when it fails because this call was applied before, answers as then. The attempt looks at the
 * caller's access like any other call, so its refusal is what somebody who may not be told the kept reply is told. For
 * changes that do more than their transaction: what is repeated may fail on what was done the first time.
 */
export async function appliedOnce<R>(
  database: Database,
  context: CommandContext,
  attempt: () => Promise<R>,
): Promise<R | RawJson> {
  try {
    const reply = await attempt();
    database.outbox.tell();
    return reply;
  } catch (error) {
    await context.admission?.();
    if (error instanceof UnconfirmedChange) return error.reply as R;
    const applied = await findApplied(database, context);
    if (applied instanceof RawJson) return applied;
    const refusal = translateDatabaseError(error);
    if (applied === 'unseen' && !(refusal instanceof ServiceError)) throw notRepeated();
    throw refusal;
  }
}

/**
 * The reply of a call that was applied before, for changes that would begin otherwise when they are repeated; null for any
 * other. @throws ServiceError CONFLICT, as a repeated call
 */
export async function appliedBefore(database: Database, context: CommandContext): Promise<RawJson | null> {
  const applied = await findApplied(database, context);
  return applied instanceof RawJson ? applied : null;
}

/**
 * The reply of a call that was applied before; null for a new one, `unseen` when the reply rests on a node that the
 * caller does not see. Both are decided in one statement.
 * @throws ServiceError CONFLICT for a reply that is not kept, and for another request under the same call id
 */
async function findApplied(source: RowSource, context: CommandContext): Promise<RawJson | 'unseen' | null> {
  const [row] = await source.rows<AppliedCall>(FIND_APPLIED, [
    ...seenBy(context.caller),
    context.envelope.callId,
    requestHash(context),
  ]);
  if (!row) return null;
  if (!row.same) throw callIdReused();
  if (!row.seen) return 'unseen';
  if (row.reply === null) throw notRepeated();
  return new RawJson(row.reply, row.facts);
}

interface AppliedCall extends Record<string, unknown> {
  readonly reply: string | null;
  readonly facts: JsonFacts;
  readonly same: boolean;
  readonly seen: boolean;
}

function notRepeated(): ServiceError {
  return new ServiceError('CONFLICT', 'This call was already carried out; its reply cannot be returned again.');
}

/** Tells requests apart, and callers: a credential that sees less gets nothing of a reply to one that sees everything. */
function requestHash({ operation, caller, input }: CommandContext): Buffer {
  const request = [operation.name, caller.via === 'system', caller.user_id, caller.scope === 'manage', input];
  return hash('sha256', JSON.stringify(request), 'buffer');
}

function toJsonText(reply: unknown): string {
  return reply instanceof RawJson ? reply.text : JSON.stringify(reply ?? null);
}

/** A process that has stopped without a word lets go of what its session holds after this time. */
const IDLE_SESSION_MS = 60_000;

/** Until the session ends. */
const LOCK_CALL = statement('command.lock_call', `SELECT pg_advisory_lock(7302, hashtext($1::text))`);

/** As the first answer told them: of the record itself, or of the one that the answer of a change holds. */
const FACTS_OF_REPLY = `
  jsonb_strip_nulls(jsonb_build_object('applied', c.reply -> 'applied', 'version', coalesce(c.reply -> 'version', (
    SELECT m.value -> 'version' FROM jsonb_path_query(c.reply, '$.*') AS m(value) WHERE jsonb_typeof(m.value) = 'object' AND m.value ? 'version' LIMIT 1))))`;

const FIND_APPLIED = statement(
  'command.find_applied',
  `
  SELECT c.reply::text AS reply, ${FACTS_OF_REPLY} AS facts, c.request_sha256 = $4::bytea AS same, NOT EXISTS (
    SELECT FROM unnest(c.rests_on) AS n(id) WHERE NOT EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = n.id)
  ) AS seen
  FROM outbox.applied_call c WHERE c.call_id = $3`,
);

/**
 * $1 audit lines with the nodes that each concerns, $2 events, $3 author, $4 surface, $5 request, $6 call, $7 operation, $8 hash of
 * the request, $9 reply, $10 nodes it rests on, $11 session in whose log the call is entered, $12 id of that event, $13 its title, $14 nodes that were made,
 * $15 id of the event that tells of them, $16 id of the message that the log has grown, $17 session of the caller,
 * $18 operation that the log of the session names.
 */
const FLUSH = statement(
  'command.flush',
  `
  WITH recorded AS MATERIALIZED (
    SELECT r.seq, r.last_seq FROM session.record_change($11::uuid, $12::uuid, $6::text, $18::text, $13::text, $14::uuid[], $15::uuid) r
  ), audited AS (
    INSERT INTO audit.entry (id, user_id, via, action, target_kind, target_id, before, after, request_id, session_id, session_seq)
    SELECT a.id, $3::uuid, $4::text, a.action, a.target_kind, a.target_id, a.before, a.after, $5::text, $17::uuid, (SELECT r.seq FROM recorded r)
    FROM jsonb_to_recordset($1::jsonb) AS a(id uuid, action text, target_kind text, target_id uuid, before jsonb, after jsonb)
  ), concerned AS (
    INSERT INTO audit.concern (node_id, at, entry_id, about)
    SELECT n.id, now(), a.id, audit.about(a.action, a.target_kind, n.id = a.target_id)
    FROM jsonb_to_recordset($1::jsonb) AS a(id uuid, action text, target_kind text, target_id uuid, concerns uuid[]), unnest(a.concerns) AS n(id)
  ), told AS (
    INSERT INTO outbox.event (id, type, payload)
    SELECT e.id, e.type, e.payload FROM jsonb_to_recordset($2::jsonb) AS e(id uuid, type text, payload jsonb)
    UNION ALL SELECT $16::uuid, 'session.appended', jsonb_build_object('session_id', $11::uuid, 'last_seq', r.last_seq) FROM recorded r
  )
  INSERT INTO outbox.applied_call (call_id, operation, request_sha256, reply, rests_on)
  VALUES ($6::text, $7::text, $8::bytea, $9::text::jsonb, $10::uuid[])`,
);
