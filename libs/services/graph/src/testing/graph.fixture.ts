import {
  type Caller,
  createActor,
  createNode,
  type InputOf,
  type NodeType,
  type OutputOf,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { GraphModule } from '../graph.module.js';

export type NodeAnswer = OutputOf<typeof createNode>;
type Extra = Partial<Omit<InputOf<typeof createNode>, 'type' | 'name'>>;

/** The graph service over a fresh database with an administrator, a writer, a reader and one organization. */
export interface GraphFixture extends ServiceHarness {
  readonly admin: Caller;
  readonly writer: Caller;
  readonly reader: Caller;
  readonly organization: NodeAnswer;
  /** Creates a node as the administrator, in the organization unless told otherwise. */
  node(type: NodeType, name: string, extra?: Extra): Promise<NodeAnswer>;
  /** Creates an actor as the administrator, a person unless told otherwise. */
  actor(name: string, extra?: Partial<InputOf<typeof createActor>>): Promise<OutputOf<typeof createActor>>;
  /** Adds a user to the list of a node that is shared with a group. */
  share(nodeId: string, userId: string, access?: 'read' | 'write'): Promise<void>;
  /** Tracks a file of a node, as the file service does; answers its id. */
  file(nodeId: string, path: string): Promise<string>;
  /** Rows of an unnamed statement, for looking behind the service. */
  sql<T extends Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<T[]>;
}

export async function startGraph(): Promise<GraphFixture> {
  const harness = await startServices([GraphModule]);
  const admin = await harness.user('Ada Admin', 'manage');
  const [writer, reader] = [await harness.user('Will Writer', 'write'), await harness.user('Rita Reader', 'read')];
  const organization = await harness.call(createNode, { type: 'organization', name: 'Acme' }, admin);
  let filesMade = 0;
  return {
    ...harness,
    admin,
    writer,
    reader,
    organization,
    node: (type, name, extra = {}) =>
      harness.call(
        createNode,
        {
          type,
          name,
          ...(type === 'organization' ? {} : { organization_id: organization.id }),
          ...extra,
        },
        admin,
      ),
    actor: (name, extra = {}) => harness.call(createActor, { type: 'person', name, ...extra }, admin),
    share: async (nodeId, userId, access = 'read') => {
      await harness.database.pool.query('INSERT INTO graph.share (node_id, user_id, access) VALUES ($1, $2, $3)', [
        nodeId,
        userId,
        access,
      ]);
      await harness.database.pool.query('SELECT graph.refresh_access(ARRAY[$1::uuid])', [nodeId]);
    },
    file: async (nodeId, path) => {
      const id = newId();
      // Times are kept in milliseconds, in which several are made.
      filesMade += 1;
      await harness.database.pool.query(
        `INSERT INTO file.record (id, node_id, path, path_key, sha256, size_bytes, mime_type, updated_at)
         VALUES ($1, $2, $3, lower($3), repeat('0a', 32), 7, 'text/plain', clock_timestamp() + $4 * interval '1 ms')`,
        [id, nodeId, path, filesMade],
      );
      return id;
    },
    sql: async <T extends Record<string, unknown>>(text: string, values: readonly unknown[] = []) =>
      (await harness.database.pool.query<T>(text, [...values])).rows,
  };
}
