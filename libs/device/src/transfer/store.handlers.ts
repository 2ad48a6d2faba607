import { lstat, realpath } from 'node:fs/promises';
import { basename, isAbsolute, relative, sep } from 'node:path';
import { Controller, Inject } from '@nestjs/common';
import {
  type Envelope,
  type OutputOf,
  type ParsedInputOf,
  ServiceError,
  storeFile,
  validationFailed,
} from '@workspace-graph/contracts';
import { locate, seenOrRead } from '@workspace-graph/disk';
import { checkedPath, pathKey, sectionOfStatus } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { NodeFolders, sameFolder } from '../files/node-folders.js';
import type { MirrorRow } from '../store/device-store.js';
import { LocalFiles } from './local-files.js';
import { Transfers } from './transfers.js';

type Input = ParsedInputOf<typeof storeFile>;

/** Files of this machine that are brought into the folder of a node and to its remote. */
@Controller()
export class StoreHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(NodeFolders) private readonly folders: NodeFolders,
    @Inject(LocalFiles) private readonly files: LocalFiles,
    @Inject(Transfers) private readonly transfers: Transfers,
  ) {}

  @Handles(storeFile)
  async store(input: Input, { envelope, signal }: OperationContext): Promise<OutputOf<typeof storeFile>> {
    if (!this.parts.localPaths.areShownTo(envelope))
      throw new ServiceError('FORBIDDEN', 'Only the person of this device stores files of it.');
    const row = await this.folders.writable(input.node_id, envelope);
    const source = await this.sourceOf(input.local_path);
    const path = pathOf(source, row, input);
    const isInside = source === (await locate(row.path, path)).absolute;
    const fileId = isInside
      ? await this.track(row, path, envelope)
      : await this.copyIn({ row, path, source }, envelope, signal);
    const { file, remote_path } = await this.transfers.push(fileId, { envelope, signal });
    const place = await this.parts.service.place(row.nodeId, envelope);
    const folder = await this.parts.localPaths.folderOf(place, envelope);
    return {
      file_id: file.id,
      remote_name: file.remote_name ?? '',
      remote_path,
      local_path: folder === null ? null : (await locate(folder, path)).absolute,
      hash: this.parts.store.file(file.id)?.lastSyncedHash ?? file.sha256 ?? '',
    };
  }

  /** A file of this machine, with links followed. @throws ServiceError VALIDATION_FAILED */
  private async sourceOf(localPath: string): Promise<string> {
    const refuse = (message: string): never => {
      throw validationFailed([{ path: 'local_path', message }]);
    };
    if (!isAbsolute(localPath)) return refuse('must be an absolute path');
    const real = await realpath(localPath).catch(() => refuse('is no file that can be read'));
    if (!(await lstat(real)).isFile()) return refuse('is no file');
    if (isWithin(await realpath(this.parts.settings.own), real))
      return refuse('lies in the own folder of the workspace');
    return real;
  }

  /** A file in the folder that was not tracked yet is from now on. */
  private async track(row: MirrorRow, path: string, envelope: Envelope): Promise<string> {
    return this.parts.locks.run([row.nodeId], async () => {
      sameFolder(this.parts, row);
      const file = this.parts.store.fileAt(row.nodeId, pathKey(path));
      const seen = await seenOrRead(await locate(row.path, path), file);
      const delta = file ? ({ kind: 'update', file, seen } as const) : ({ kind: 'register', path, seen } as const);
      const options = { action: storeFile.name, asker: envelope, strict: true };
      const [result] = await this.parts.files.apply(row.nodeId, [delta], options);
      const entered = result && 'file' in result ? result.file : null;
      if (!entered)
        throw new ServiceError('FILE_NOT_FOUND', `There is no file ${path} in the folder of the node.`, { path });
      return entered.id;
    });
  }

  /** A path that has the very content already is left as it is: a repeated call ends as the first one. */
  private async copyIn(
    { row, path, source }: { readonly row: MirrorRow; readonly path: string; readonly source: string },
    envelope: Envelope,
    signal: AbortSignal,
  ): Promise<string> {
    const known = this.parts.store.fileAt(row.nodeId, pathKey(path));
    const file = known && !known.isDeleted && known.path === path ? { id: known.fileId, path } : null;
    if (file && (await this.files.isCopyOf(row, file, { source, signal }))) return file.id;
    const options = { envelope, action: storeFile.name, signal };
    return this.transfers.copyIn({ nodeId: row.nodeId, path }, source, options);
  }
}

/** Within the folder of the node the file keeps its place; any other comes into a section. */
function pathOf(source: string, row: MirrorRow, { status = 'wip', subpath }: Input): string {
  if (isWithin(row.path, source))
    return checkedPath(relative(row.path, source).split(sep).join('/'), 'local_path').path;
  const parts = [sectionOfStatus(status), ...(subpath === undefined ? [] : [subpath]), basename(source)];
  return checkedPath(parts.join('/'), subpath === undefined ? 'local_path' : 'subpath', { portable: true }).path;
}

function isWithin(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
