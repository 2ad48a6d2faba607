import { randomUUID } from 'node:crypto';
import type { Caller, connectSession, endRun, InputOf, Session, SessionEvent } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { SessionModule, type SessionModuleOptions } from '../session.module.js';
import { ScriptedRuns } from './scripted-runs.js';
import { type Call, type Connected, type Reported, SessionCalls } from './session-calls.js';

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

  /** What a person does; the owner unless told. */
  as(caller = this.owner): SessionCalls {
    const call: Call = (operation, input, callId) => this.harness.call(operation, input, caller, callId);
    return new SessionCalls(call, this.runs, this.nodeId);
  }

  connect(input: Partial<InputOf<typeof connectSession>> = {}, caller = this.owner): Promise<Connected> {
    return this.as(caller).connect(input);
  }

  task(caller = this.owner): Promise<Connected> {
    return this.as(caller).task();
  }

  get(id: string, caller = this.owner): Promise<Session> {
    return this.as(caller).get(id);
  }

  log(id: string, caller = this.owner): Promise<SessionEvent[]> {
    return this.as(caller).log(id);
  }

  /** Kinds of the log, with the payload of those that are asked for. */
  async kinds(id: string): Promise<string[]> {
    return (await this.log(id)).map(({ kind }) => kind);
  }

  /** A run reports, for its owner. */
  report(connected: Connected, events: readonly Reported[], caller = this.owner, callId: string = randomUUID()) {
    return this.as(caller).report(connected, events, callId);
  }

  /** What is told after the commit of changes of a session, in order. */
  async told(id: string): Promise<{ readonly type: string; readonly payload: Readonly<Record<string, unknown>> }[]> {
    return this.sql(`SELECT type, payload FROM outbox.event WHERE payload ->> 'session_id' = $1 ORDER BY id`, [id]);
  }

  end(connected: Connected, input: Omit<InputOf<typeof endRun>, 'session_id' | 'run_id'>) {
    return this.as().end(connected, input);
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
