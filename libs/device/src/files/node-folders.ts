import { Inject, Injectable } from '@nestjs/common';
import { type Envelope, type PlacedFile, ServiceError, type TrackedFile } from '@workspace-graph/contracts';
import { fileNotFound } from '@workspace-graph/disk';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { Mirrors } from '../mirrors/mirrors.js';
import { Projections } from '../projections/projections.js';
import { toTrackedFile } from '../reading/tracked-file.js';
import { noMirror } from '../records/file-service.js';
import type { MirrorRow } from '../store/device-store.js';

/** Where files may be changed, on whose behalf, and how they are answered. */
@Injectable()
export class NodeFolders {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly mirrors: Mirrors,
    private readonly projections: Projections,
  ) {}

  /**
   * The folder of a node on which the caller may write.
   * @throws ServiceError NODE_NOT_FOUND, FORBIDDEN, NO_MIRROR
   */
  async writable(nodeId: string, envelope: Envelope): Promise<MirrorRow> {
    await this.parts.service.writablePlace(nodeId, envelope);
    return this.ready(nodeId);
  }

  /** The folder of a node, if it is there and in order. @throws ServiceError NO_MIRROR */
  async ready(nodeId: string): Promise<MirrorRow> {
    const row = this.mirrors.require(nodeId);
    const state = await this.mirrors.stateOf(row);
    if (state === 'ready') return row;
    throw new ServiceError('NO_MIRROR', `The folder of the node ${nodeId} is ${state} on this device.`, {
      node_id: nodeId,
      state,
    });
  }

  /**
   * A file that the caller may change.
   * @throws ServiceError FILE_NOT_FOUND, for one of another node than `nodeId` too; FORBIDDEN; CONFLICT
   */
  async file(
    fileId: string,
    envelope: Envelope,
    { nodeId, version }: { readonly nodeId?: string | undefined; readonly version?: number | undefined } = {},
  ): Promise<PlacedFile> {
    const [found] = await this.parts.service.files({ ids: [fileId] }, envelope);
    if (!found || (nodeId !== undefined && found.file.node_id !== nodeId)) throw fileNotFound({ file_id: fileId });
    const { node_id } = found.file;
    if (found.place.level !== 'write')
      throw new ServiceError('FORBIDDEN', `You may read the node ${node_id}, but not write to it.`, { node_id });
    if (version !== undefined && found.file.version !== version)
      throw new ServiceError(
        'CONFLICT',
        `expected_version: the file ${fileId} now has version ${found.file.version}.`,
        { current: found.file },
      );
    return found;
  }

  /** A file as the caller is to see it: outside the home node by its path in the projection of the session. */
  async answer(placed: PlacedFile, envelope: Envelope): Promise<TrackedFile> {
    const { node_id, path } = placed.file;
    const { localPaths, store } = this.parts;
    const home = envelope.caller?.home_node_id ?? null;
    if (home === null || home === node_id)
      return toTrackedFile(placed, await localPaths.folderOf(placed.place, envelope));
    if (!localPaths.areShownTo(envelope) || store.mirror(node_id) === null) return toTrackedFile(placed, null);
    const projected = await this.projections.project(envelope, new Map([[node_id, [path]]]));
    return { ...toTrackedFile(placed, null), local_path: projected(node_id, path) };
  }

  /** The same, by id. @throws ServiceError FILE_NOT_FOUND */
  async answerById(fileId: string, envelope: Envelope): Promise<TrackedFile> {
    const [placed] = await this.parts.service.files({ ids: [fileId] }, envelope);
    if (!placed) throw fileNotFound({ file_id: fileId });
    return this.answer(placed, envelope);
  }
}

/** The folder of a node again, once the node is locked. @throws ServiceError NO_MIRROR when it was moved or removed */
export function sameFolder({ store }: DeviceParts, row: MirrorRow): void {
  if (store.mirror(row.nodeId)?.path !== row.path) throw noMirror(row.nodeId);
}
