import { type Caller, type Operation, RawJson, ServiceError } from '@workspace-graph/contracts';
import { newId, OperationRegistry } from '@workspace-graph/platform';
import { type FileServiceWorld, type ServiceHarness, startServices } from '@workspace-graph/testing';
import { FileModule } from '../file.module.js';

/** The file service over a fresh database with the organization `acme`. */
export interface FileFixture extends FileServiceWorld {
  readonly harness: ServiceHarness;
  /** The device that calls, of somebody who manages. */
  readonly ownDevice: Caller;
  /** Rows of an unnamed statement, for looking behind the service. */
  sql<T extends Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<T[]>;
  /** Calls an operation under an id of its own. */
  callAs(operation: Operation, input: unknown, caller: Caller | null, callId: string): Promise<unknown>;
}

export async function startFiles(): Promise<FileFixture> {
  const harness = await startServices([FileModule]);
  const registry = harness.module.get(OperationRegistry);
  const organizationId = newId();
  const sql: FileFixture['sql'] = async <T extends Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
  ) => (await harness.database.pool.query<T>(text, [...values])).rows;
  await sql(
    `INSERT INTO graph.node (id, type, name, lifecycle, sync_key) VALUES ($1, 'organization', 'Acme', 'active', 'acme')`,
    [organizationId],
  );
  const device = async (): Promise<Caller> => {
    const person = await harness.user('Owner', 'manage');
    const device_id = newId();
    await sql(`INSERT INTO identity.device (id, user_id, name) VALUES ($1, $2, 'desk')`, [device_id, person.user_id]);
    return { ...person, via: 'sync', device_id };
  };
  const ownDevice = await device();
  const closedOrganization = async (readers: readonly Caller[]): Promise<string> => {
    const id = newId();
    await sql(
      `INSERT INTO graph.node (id, type, name, lifecycle, sync_key, visibility) VALUES ($1, 'organization', 'Closed', 'active', $2, 'group')`,
      [id, `closed-${id}`],
    );
    for (const { user_id } of readers)
      await sql(`INSERT INTO graph.share (node_id, user_id, access) VALUES ($1, $2, 'read')`, [id, user_id]);
    await sql('SELECT graph.refresh_access(ARRAY[$1::uuid])', [id]);
    return id;
  };
  const callAs: FileFixture['callAs'] = async (operation, input, caller, callId) => {
    const envelope = {
      callId,
      requestId: callId,
      caller: { device_id: ownDevice.device_id, ...(caller ?? ownDevice) },
    };
    const reply = await registry.dispatch(operation, input, { envelope, signal: new AbortController().signal });
    return reply instanceof RawJson ? reply.parse() : reply;
  };
  return {
    harness,
    ownDevice,
    device,
    sql,
    callAs,
    user: (name) => harness.user(name),
    node: async ({ name, readers = [], writers = [], organizationReaders }) => {
      const id = newId();
      const home = organizationReaders ? await closedOrganization(organizationReaders) : organizationId;
      const isOpen = readers.length + writers.length === 0;
      await sql(
        `WITH made AS (
           INSERT INTO graph.node (id, type, name, lifecycle, health, organization_id, sync_key, visibility)
           VALUES ($1, 'project', $2, 'planned', 'on_track', $3, $4, $5) RETURNING id)
         INSERT INTO graph.edge (id, source_id, target_id, relation) SELECT gen_random_uuid(), id, $3, 'belongs_to' FROM made`,
        [id, name, home, `p-${id}`, isOpen ? null : 'group'],
      );
      for (const [access, callers] of [
        ['read', readers],
        ['write', writers],
      ] as const)
        for (const { user_id } of callers)
          await sql('INSERT INTO graph.share (node_id, user_id, access) VALUES ($1, $2, $3)', [id, user_id, access]);
      await sql('SELECT graph.refresh_access(ARRAY[$1::uuid])', [id]);
      return id;
    },
    session: (caller, read) => harness.session(caller, { read }),
    call: async (operation, input, caller) => (await callAs(operation, input, caller, newId())) as never,
    refusal: async (operation, input, code, caller) => {
      const error = await callAs(operation, input, caller, newId()).then(
        () => new Error(`${operation.name} was accepted; ${code} was expected`),
        (reason: unknown) => reason,
      );
      if (!(error instanceof ServiceError) || error.code !== code) throw error;
      return error;
    },
    tombstones: (nodeId) =>
      sql('SELECT file_id, path FROM file.tombstone WHERE node_id = $1 ORDER BY path, created_at', [nodeId]),
    [Symbol.asyncDispose]: () => harness.close(),
  };
}
