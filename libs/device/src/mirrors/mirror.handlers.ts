import { dirname } from 'node:path';
import { Controller, Inject } from '@nestjs/common';
import {
  createMirror,
  type Envelope,
  type NodePlace,
  type OutputOf,
  type ParsedInputOf,
  type RemoteScaffold,
  removeMirror,
  ServiceError,
  scaffoldRemote,
} from '@workspace-graph/contracts';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { callerOf } from '../records/file-service.js';
import type { MirrorRow } from '../store/device-store.js';
import { MirrorConfigs } from './client-config/mirror-configs.js';
import { chosenPath, defaultFolder, folderError, pathRefused, realFolder } from './folder-rules.js';
import { makeFolder, sectionsOf } from './make-folder.js';
import { MirrorFolders } from './mirror-folders.js';
import { folderIdentity, Mirrors } from './mirrors.js';

/** For which a storage that answers slowly is waited for. */
const SCAFFOLD_MS = 10_000;

/** Makes and gives up folders of nodes on this device. */
@Controller()
export class MirrorHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(MirrorFolders) private readonly folders: MirrorFolders,
    @Inject(MirrorConfigs) private readonly configs: MirrorConfigs,
  ) {}

  @Handles(createMirror)
  async create(
    { node_id: nodeId, custom_path: customPath }: ParsedInputOf<typeof createMirror>,
    context: OperationContext,
  ): Promise<OutputOf<typeof createMirror>> {
    const place = await this.parts.service.writablePlace(nodeId, context.envelope);
    const chosen = customPath === undefined ? null : chosenPath('custom_path', customPath);
    // Read before anything is made, so that a graph that does not answer leaves nothing half done.
    const caller = await this.configs.scopes.readerFor(nodeId, callerOf(context.envelope));
    const graph = await this.configs.scopes.read(nodeId, { ...context.envelope, caller }, context.signal);
    const made = await this.parts.locks.run([nodeId], async () => {
      const { row, created } = await this.folderOf(place, chosen, context);
      const sections = sectionsOf(place.type);
      return {
        node_id: nodeId,
        local_path: await this.parts.localPaths.folderOf(place, context.envelope),
        created,
        subdirs: [...sections],
        scope_config: await this.configs.write(row, graph, caller).catch((error: unknown) => {
          throw folderError(error);
        }),
      };
    });
    return { ...made, remote_scaffold: await this.scaffold(nodeId, context) };
  }

  /** The folder here is made, whatever becomes of those on the remote. */
  private async scaffold(nodeId: string, { envelope, signal }: OperationContext): Promise<RemoteScaffold> {
    const none = { remote_name: null, folders: [], problem: null };
    if (!this.parts.centre) return none;
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(SCAFFOLD_MS)]);
    try {
      return await this.parts.service.call(scaffoldRemote, { node_id: nodeId }, envelope, bounded);
    } catch (error) {
      if (!(error instanceof ServiceError) || signal.aborted) throw error;
      return { ...none, problem: error.message };
    }
  }

  @Handles(removeMirror)
  async remove(
    { node_id: nodeId }: ParsedInputOf<typeof removeMirror>,
    { envelope }: OperationContext,
  ): Promise<OutputOf<typeof removeMirror>> {
    const place = await this.parts.service.writablePlace(nodeId, envelope);
    return this.parts.locks.run([nodeId], async () => {
      const row = this.mirrors.require(nodeId);
      if ((await this.mirrors.stateOf(row)) === 'ready')
        await this.configs.remove(row).catch((error: unknown) => {
          throw folderError(error);
        });
      const local_path = await this.parts.localPaths.folderOf(place, envelope);
      this.mirrors.remove(row);
      return { node_id: nodeId, local_path };
    });
  }

  /** The mirror of a node, made when there is none; sections that are missing are made again. */
  private async folderOf(
    place: NodePlace,
    chosen: string | null,
    { envelope }: OperationContext,
  ): Promise<{ row: MirrorRow; created: boolean }> {
    const there = this.mirrors.of(place.node_id);
    if (there) return { row: await this.renewed(there, { place, chosen, envelope }), created: false };
    const wanted = chosen ?? defaultFolder(place, this.parts.settings.root);
    const row = await this.folders.claim({ place, path: wanted, asker: envelope }, async (path) => {
      await makeFolder(path, sectionsOf(place.type));
      const made: MirrorRow = {
        nodeId: place.node_id,
        path,
        identity: (await folderIdentity(path)) ?? '',
        scannedAt: null,
        createdAt: new Date().toISOString(),
      };
      this.mirrors.add(made);
      return made;
    });
    return { row, created: true };
  }

  private async renewed(row: MirrorRow, { place, chosen, envelope }: Renewal): Promise<MirrorRow> {
    if (chosen !== null && (await realFolder(chosen)) !== row.path)
      throw new ServiceError(
        'CONFLICT',
        `The node ${row.nodeId} already has a folder at another path. Move that folder, or call without a path to keep it.`,
        { current: { local_path: await this.parts.localPaths.folderOf(place, envelope) } },
      );
    const state = await this.mirrors.stateOf(row);
    if (state === 'missing') await refuseOtherVolume(row);
    await makeFolder(row.path, sectionsOf(place.type));
    if (state !== 'missing') return this.mirrors.require(row.nodeId);
    // Nothing counts as deleted until this folder was looked at once.
    const anew = { ...row, identity: (await folderIdentity(row.path)) ?? '', scannedAt: null };
    this.mirrors.move(row, anew);
    return anew;
  }
}

interface Renewal {
  readonly place: NodePlace;
  /** Where the caller wants the folder; null for where it is. */
  readonly chosen: string | null;
  readonly envelope: Envelope;
}

/** A folder made where a disk is not mounted would look as if every file had been deleted. */
async function refuseOtherVolume({ path, identity }: MirrorRow): Promise<void> {
  let at = path;
  let found = await folderIdentity(at);
  while (found === null && dirname(at) !== at) {
    at = dirname(at);
    found = await folderIdentity(at);
  }
  if (found !== null && volumeOf(found) === volumeOf(identity)) return;
  throw pathRefused(
    'unusable',
    'The folder is missing together with its disk. Attach the disk, or stop tracking the folder and create another one.',
  );
}

function volumeOf(identity: string): string | undefined {
  return identity.split(':')[0];
}
