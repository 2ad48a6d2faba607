import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Caller, setRoutingPolicy, setupRemote } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { FileCredentials, MemoryRemote } from '@workspace-graph/remotes';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { FileModule } from '../file.module.js';
import { RemotesModule } from '../remotes/remotes.module.js';

/** A storage that outlives its connections, and that a test may look into, change and break. */
export class Storage extends MemoryRemote {
  /** Called before each change; what it throws is what the storage answers. */
  before: (what: 'write' | 'move' | 'remove', path: string) => void | Promise<void> = () => undefined;
  /** The same after a change, whose answer is lost when this throws. */
  after: (what: 'write' | 'move' | 'remove', path: string) => void | Promise<void> = () => undefined;

  override async write(...args: Parameters<MemoryRemote['write']>) {
    await this.before('write', args[0]);
    const entry = await super.write(...args);
    await this.after('write', args[0]);
    return entry;
  }

  override async move(...args: Parameters<MemoryRemote['move']>) {
    await this.before('move', args[0]);
    const entry = await super.move(...args);
    await this.after('move', args[0]);
    return entry;
  }

  override async remove(...args: Parameters<MemoryRemote['remove']>) {
    await this.before('remove', args[0]);
    await super.remove(...args);
    await this.after('remove', args[0]);
  }

  /** Every file of it but the mark of its root, with its content as text. */
  async texts(): Promise<Record<string, string>> {
    const texts: Record<string, string> = {};
    for await (const page of this.list('', { recursive: true }))
      for (const entry of page)
        if (entry.kind === 'file' && !entry.path.startsWith('.')) texts[entry.path] = await this.text(entry.path);
    return texts;
  }

  async text(path: string): Promise<string> {
    const { bytes } = await this.read(path);
    const parts: Uint8Array[] = [];
    for await (const part of bytes) parts.push(part);
    return Buffer.concat(parts).toString();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    // Its content stays.
  }
}

/** The file service of a central workspace with the remotes `main`, which has everything, and `north`, of one organization. */
export interface CentreFixture extends AsyncDisposable {
  readonly harness: ServiceHarness;
  readonly admin: Caller;
  readonly main: Storage;
  readonly north: Storage;
  /** A project in `acme`, or in `north`; with readers it is closed to all others. */
  project(options?: {
    readonly organization?: 'acme' | 'north';
    readonly readers?: readonly Caller[];
  }): Promise<string>;
  /** Folder of a project on its remote. */
  folder(nodeId: string): Promise<string>;
  sql<T extends Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<T[]>;
}

export async function startCentre(): Promise<CentreFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'centre-spec-'));
  const credentials = await FileCredentials.open(folder, 'a key of thirty-two characters, or more');
  const storages = { main: new Storage(), north: new Storage() };
  const open = async ({ config }: { readonly config: object }): Promise<Storage> =>
    storages[(config as { folder: 'main' | 'north' }).folder];
  const bytes = { host: '127.0.0.1', port: 0 };
  const harness = await startServices([FileModule, RemotesModule.forRoot({ credentials, open, bytes })]);
  const admin = await harness.user('Ada', 'manage');
  const sql: CentreFixture['sql'] = async <T extends Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
  ) => (await harness.database.pool.query<T>(text, [...values])).rows;
  const organizations = { acme: newId(), north: newId() };
  for (const [key, id] of Object.entries(organizations))
    await sql(
      `INSERT INTO graph.node (id, type, name, lifecycle, sync_key) VALUES ($1, 'organization', $2, 'active', $2)`,
      [id, key],
    );
  for (const name of ['main', 'north'] as const)
    await harness.call(setupRemote, { name, type: 'fs', config: { folder: name } }, admin);
  const rule = { priority: 100, node_type: null, org_slug: null, remote_name: 'main' };
  const rules = [rule, { ...rule, priority: 10, org_slug: 'north', remote_name: 'north' }];
  await harness.call(setRoutingPolicy, { rules }, admin);
  return {
    harness,
    admin,
    ...storages,
    sql,
    project: async ({ organization = 'acme', readers } = {}) => {
      const id = newId();
      await sql(
        `WITH made AS (
           INSERT INTO graph.node (id, type, name, lifecycle, health, organization_id, sync_key, visibility)
           VALUES ($1, 'project', 'Bakery', 'planned', 'on_track', $2, $3, $4) RETURNING id)
         INSERT INTO graph.edge (id, source_id, target_id, relation) SELECT gen_random_uuid(), id, $2, 'belongs_to' FROM made`,
        [id, organizations[organization], `p-${id}`, readers ? 'group' : null],
      );
      for (const { user_id } of readers ?? [])
        await sql(`INSERT INTO graph.share (node_id, user_id, access) VALUES ($1, $2, 'read')`, [id, user_id]);
      await sql('SELECT graph.refresh_access(ARRAY[$1::uuid])', [id]);
      return id;
    },
    folder: async (nodeId) => {
      const [row] = await sql<{ folder: string }>(
        `SELECT file.node_folder(n.type, n.sync_key, o.sync_key) AS folder
         FROM graph.node n JOIN graph.node o ON o.id = n.organization_id WHERE n.id = $1`,
        [nodeId],
      );
      return row?.folder ?? '';
    },
    [Symbol.asyncDispose]: async () => {
      await harness.close();
      await rm(folder, { recursive: true });
    },
  };
}
