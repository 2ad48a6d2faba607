import { Inject, Injectable } from '@nestjs/common';
import { type NodePlace, ServiceError, validationFailed } from '@workspace-graph/contracts';
import { fileNotFound, locate, type MirrorPath } from '@workspace-graph/disk';
import { type FilePathParts, isIgnoredName, parseFilePath } from '@workspace-graph/domain';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { Mirrors } from '../mirrors/mirrors.js';
import type { Asker } from '../records/file-service.js';

/** A file that may be read, if it is there. */
export interface ReadableFile {
  readonly place: NodePlace;
  readonly parts: FilePathParts;
  readonly at: MirrorPath;
}

/**
 * Finds files for reading: those in the sections of nodes that the caller sees, tracked or not. Names that are ignored
 * everywhere are read by nobody.
 */
@Injectable()
export class ReadableFiles {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
  ) {}

  /**
   * The node is looked at first, so that a hidden one is hidden whatever the path.
   * @throws ServiceError NODE_NOT_FOUND, VALIDATION_FAILED, NATIVE_FORMAT, NO_MIRROR, FILE_NOT_FOUND
   */
  async find(nodeId: string, path: string, asker: Asker): Promise<ReadableFile> {
    const place = await this.parts.service.place(nodeId, asker);
    const parsed = parseFilePath(path);
    if ('problem' in parsed) throw validationFailed([{ path: 'path', message: parsed.problem }]);
    const parts = parsed.value;
    await this.refuseNative(nodeId, parts.path, asker);
    const mirror = this.mirrors.require(nodeId);
    if (parts.path.split('/').some(isIgnoredName)) throw fileNotFound({ path: parts.path });
    const at = await locate(mirror.path, parts.path);
    if (!at.exists) throw fileNotFound({ path: parts.path });
    return { place, parts, at };
  }

  private async refuseNative(nodeId: string, path: string, asker: Asker): Promise<void> {
    const files = await this.parts.service.files({ paths: [{ node_id: nodeId, path }] }, asker);
    if (!files.some(({ file }) => file.is_native_format && file.path === path)) return;
    throw new ServiceError('NATIVE_FORMAT', `${path} is a document of a cloud service and has no bytes.`, { path });
  }
}
