import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setupRemote } from '@workspace-graph/contracts';
import { rcloneProgram, startRadosgw, whyNoRadosgw } from '@workspace-graph/testing';
import { routeTo, startTwoWorkstations, type TwoWorkstations } from '../../central/two-workstations.js';
import type { Workstation } from '../../central/workstation.js';
import type { TransferBackend, TransferBenchOptions } from './options.js';

/** Where measuring takes place: a central workspace with one gateway, and two workstations of one person. */
export interface Stage extends AsyncDisposable, Pick<TwoWorkstations, 'world' | 'ada'> {
  readonly options: TransferBenchOptions;
  readonly progress: (line: string) => void;
  readonly from: Workstation;
  readonly to: Workstation;
  /** A folder for what rclone copies, on the same disk. */
  readonly scratch: string;
  /** The program. */
  readonly rclone: string;
  /** A storage of a kind, once; null where this machine has none. */
  storage(backend: TransferBackend): Promise<Storage | null>;
  /** A new node whose files are kept on a storage, with a folder on both workstations. */
  node(storage: Storage): ReturnType<TwoWorkstations['project']>;
}

/** A storage of the central workspace, as rclone reaches it too. */
export interface Storage {
  readonly remote: string;
  /** For rclone, of a folder within. */
  readonly rcloneTarget: (folder: string) => string;
  readonly rcloneArgs: readonly string[];
}

/** @throws Error where rclone is missing */
export async function openStage(options: TransferBenchOptions, progress: (line: string) => void): Promise<Stage> {
  const rclone = await rcloneProgram();
  const stack = new AsyncDisposableStack();
  try {
    const all = stack.use(await startTwoWorkstations({ durable: true, isDirect: true }));
    const scratch = await mkdtemp(join(tmpdir(), 'bench-transfer-'));
    stack.defer(() => rm(scratch, { recursive: true, force: true }));
    const storages = new Map<TransferBackend, Promise<Storage | null>>();
    const held = stack.move();
    const [from, to] = all.stations;
    const { world, ada } = all;
    return {
      options,
      progress,
      world,
      ada,
      from,
      to,
      scratch,
      rclone,
      storage: (backend) => {
        const found = storages.get(backend) ?? start(backend, all, held);
        storages.set(backend, found);
        return found;
      },
      node: async ({ remote }) => {
        await routeTo(ada, remote);
        return all.project();
      },
      [Symbol.asyncDispose]: () => held.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function start(
  backend: TransferBackend,
  { ada, storage }: TwoWorkstations,
  stack: AsyncDisposableStack,
): Promise<Storage | null> {
  if (backend === 'fs') return { remote: 'team', rcloneTarget: (within) => join(storage, within), rcloneArgs: [] };
  if ((await whyNoRadosgw()) !== null) return null;
  const server = await startRadosgw();
  stack.defer(() => server.stop());
  const { accessKeyId, secretAccessKey, url: endpoint } = server;
  await server.makeBucket('files');
  const credentials = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  const config = { endpoint, bucket: 'files' };
  await ada.call(setupRemote, { name: backend, type: 'objstore', config, credentials });
  const given = { 'access-key-id': accessKeyId, 'secret-access-key': secretAccessKey, endpoint, provider: 'Ceph' };
  const rcloneArgs = Object.entries(given).flatMap(([key, value]) => [`--s3-${key}`, value]);
  return { remote: backend, rcloneTarget: (within) => `:s3:files/${within}`, rcloneArgs };
}
