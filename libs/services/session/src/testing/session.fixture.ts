import { randomUUID } from 'node:crypto';
import {
  appendSessionEvents,
  type Caller,
  connectSession,
  endRun,
  getSession,
  type InputOf,
  listSessionEvents,
  type ReportedEvent,
  type Session,
  type SessionEvent,
  startSession,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { SessionModule, type SessionModuleOptions } from '../session.module.js';
import { ScriptedRuns } from './scripted-runs.js';

/** A session that a test has connected, with the run that holds it. */
export interface Connected {
  readonly session: Session;
  readonly run_id: string;
}

/** An event of a run, which gets an id where it has none. */
export type Reported = Omit<ReportedEvent, 'id'> & { readonly id?: string };

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

type WorldParts = Pick<SessionWorld, 'harness' | 'runs' | 'owner' | 'manager' | 'reader' | 'nodeId'>;

/** Sessions over a database of their own, with a node, its owner, somebody who manages and somebody who reads. */
export class SessionWorld implements AsyncDisposable {
  readonly harness: ServiceHarness;
  readonly runs: ScriptedRuns;
  readonly owner: Caller;
  readonly manager: Caller;
  readonly reader: Caller;
  readonly nodeId: string;

  private constructor(parts: WorldParts) {
    this.harness = parts.harness;
    this.runs = parts.runs;
    this.owner = parts.owner;
    this.manager = parts.manager;
    this.reader = parts.reader;
    this.nodeId = parts.nodeId;
  }

  static async start(options: Pick<SessionModuleOptions, 'handoffMs'> = {}): Promise<SessionWorld> {
    const runs = new ScriptedRuns();
    const harness = await startServices([SessionModule.forRoot({ ...options, runs })]);
    const owner = await harness.user('Olga', 'write');
    const manager = await harness.user('Mara', 'manage');
    const reader = await harness.user('Rita', 'read');
    const nodeId = await addNode(harness, 'Home');
    return new SessionWorld({ harness, runs, owner, manager, reader, nodeId });
  }

  /** A node that its readers alone see; without them everybody does. */
  node(name: string, readers?: readonly Caller[]): Promise<string> {
    return addNode(this.harness, name, readers);
  }

  /** Takes a node from everybody but its readers. */
  async share(nodeId: string, readers: readonly Caller[]): Promise<void> {
    await shareWith(this.harness, nodeId, readers);
  }

  /** Rows of an unnamed statement, for looking behind the service. */
  async sql<T extends Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    return (await this.harness.database.pool.query<T>(text, [...values])).rows;
  }

  /** An agent connects. */
  async connect(input: Partial<InputOf<typeof connectSession>> = {}, caller = this.owner): Promise<Connected> {
    const run_id = input.run_id ?? randomUUID();
    const client = { name: 'test-agent', title: 'Test Agent', version: '1.0' };
    const { session } = await this.harness.call(
      connectSession,
      {
        holder: 'edge-1',
        client,
        ...('node_id' in input || input.session_id ? {} : { node_id: this.nodeId }),
        ...input,
        run_id,
      },
      caller,
    );
    return { session, run_id };
  }

  /** A task is started. */
  async task(caller = this.owner): Promise<Connected> {
    const session = await this.harness.call(
      startSession,
      { node_id: this.nodeId, brief: 'Write the draft.', runner: 'scripted' },
      caller,
    );
    const order = this.runs.orders.findLast((made) => made.session_id === session.id);
    if (!order) throw new Error('The task has not started');
    return { session, run_id: order.run_id };
  }

  get(id: string, caller = this.owner): Promise<Session> {
    return this.harness.call(getSession, { session_id: id }, caller);
  }

  async log(id: string, caller = this.owner): Promise<SessionEvent[]> {
    const { items } = await this.harness.call(listSessionEvents, { session_id: id, limit: 2_000 }, caller);
    return items as unknown as SessionEvent[];
  }

  /** Kinds of the log, with the payload of those that are asked for. */
  async kinds(id: string): Promise<string[]> {
    return (await this.log(id)).map(({ kind }) => kind);
  }

  /** A run reports, for its owner. */
  report(connected: Connected, events: readonly Reported[], caller = this.owner, callId: string = randomUUID()) {
    return this.harness.call(appendSessionEvents, reportOf(connected, events), caller, callId);
  }

  /** What is told after the commit of changes of a session, in order. */
  async told(id: string): Promise<{ readonly type: string; readonly payload: Readonly<Record<string, unknown>> }[]> {
    return this.sql(`SELECT type, payload FROM outbox.event WHERE payload ->> 'session_id' = $1 ORDER BY id`, [id]);
  }

  end({ session, run_id }: Connected, input: Omit<InputOf<typeof endRun>, 'session_id' | 'run_id'>) {
    return this.harness.call(endRun, { session_id: session.id, run_id, ...input }, this.owner);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.harness.close();
  }
}

async function addNode({ database }: ServiceHarness, name: string, readers?: readonly Caller[]): Promise<string> {
  const id = newId();
  await database.pool.query(
    `INSERT INTO graph.node (id, type, name, lifecycle, sync_key) VALUES ($1::uuid, 'organization', $2, 'active', $1::text)`,
    [id, name],
  );
  if (readers) await shareWith({ database }, id, readers);
  return id;
}

async function shareWith(
  { database }: Pick<ServiceHarness, 'database'>,
  id: string,
  readers: readonly Caller[],
): Promise<void> {
  await database.pool.query(`UPDATE graph.node SET visibility = 'group' WHERE id = $1`, [id]);
  await database.pool.query('DELETE FROM graph.share WHERE node_id = $1', [id]);
  await database.pool.query(
    `INSERT INTO graph.share (node_id, user_id, access) SELECT $1, u, 'read' FROM unnest($2::uuid[]) u`,
    [id, readers.map(({ user_id }) => user_id)],
  );
  await database.pool.query('SELECT graph.refresh_access(ARRAY[$1::uuid])', [id]);
}
