import { lstat, realpath } from 'node:fs/promises';
import { basename, isAbsolute, relative, sep } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import {
  type FileRefusal,
  type FileStatus,
  findFiles,
  type ParsedInputOf,
  refusalOf,
  ServiceError,
  storeFile,
  validationFailed,
} from '@workspace-graph/contracts';
import { inodeOf, locate, PathFinder, type SeenContent, seenOrRead, stampOf, statOrNull } from '@workspace-graph/disk';
import { checkedPath, pathKey, sectionOfStatus } from '@workspace-graph/domain';
import pMap from 'p-map';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { sameFolder } from '../files/node-folders.js';
import type { FileDelta } from '../records/file-delta.js';
import type { DeltaResult } from '../records/tracked-files.js';
import type { FileState, MirrorRow } from '../store/device-store.js';
import { LocalFiles } from './local-files.js';
import { type Transferring, Transfers } from './transfers.js';

/** Where files from outside the folder of a node come to lie in it. */
export type Section = Pick<ParsedInputOf<typeof storeFile>, 'status' | 'subpath'>;

/** A file of a node that is to be stored. */
export interface TakenIn {
  readonly fileId: string;
  /** Within the node. */
  readonly path: string;
  /** Where it was seen on this machine just now; missing for one that was not looked at since it got there. */
  readonly absolute?: string;
}

/** What became of each path that was given. */
export type Intake = ReadonlyMap<string, TakenIn | { readonly refused: FileRefusal }>;

interface Placed {
  readonly source: string;
  readonly path: string;
  readonly isInside: boolean;
}

/** Files that are read at once. */
const AT_ONCE = 8;

/** Makes files of a node of what lies on this machine. */
@Injectable()
export class Intakes {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(LocalFiles) private readonly files: LocalFiles,
    @Inject(Transfers) private readonly transfers: Transfers,
  ) {}

  /** What lies in the folder of the node is tracked where it lies, everything else is copied there. @throws what is no refusal */
  async take(
    row: MirrorRow,
    { given, section }: { readonly given: readonly string[]; readonly section: Section },
    transferring: Transferring,
  ): Promise<Intake> {
    const all = [...new Set(given)];
    const paths = new PathFinder(row.path);
    const intake = new Map<string, TakenIn | { readonly refused: FileRefusal }>();
    const placed = new Map<string, Placed | { readonly refused: FileRefusal }>();
    const place = async (localPath: string): Promise<void> => {
      const known = await this.knownAt(row, localPath, paths);
      if (known) intake.set(localPath, known);
      else placed.set(localPath, await orRefusal(() => this.placeOf(row, localPath, section)));
    };
    await pMap(all, place, { concurrency: AT_ONCE });
    const inside = [...placed.values()].flatMap((each) => ('path' in each && each.isInside ? each.path : []));
    const tracked = await this.track(row, [...new Set(inside)], transferring);
    for (const localPath of all) {
      const each = placed.get(localPath);
      if (!each) continue;
      if ('refused' in each) intake.set(localPath, each);
      else if (each.isInside)
        intake.set(localPath, tracked.get(each.path) ?? { refused: refusalOf(absent(each.path)) });
      else intake.set(localPath, await orRefusal(() => this.copyIn(row, each, transferring)));
    }
    return intake;
  }

  /**
   * Files whose records somebody else has removed, and that lie here all the same, are new ones from now on. Answers those by
   * the ids that they had.
   */
  async renew(row: MirrorRow, taken: readonly TakenIn[], transferring: Transferring): Promise<Intake> {
    const ids = taken.map(({ fileId }) => fileId);
    const { files } = await this.parts.service.call(findFiles, { ids }, null);
    const there = new Set(files.map(({ file }) => file.id));
    const states = this.parts.store.files(ids.filter((id) => !there.has(id)));
    const gone = taken.filter(({ fileId, path }) => states.get(fileId)?.path === path);
    const removals = [...states.values()].map((file) => ({ kind: 'remove' as const, file, tombstone: false }));
    const options = { action: storeFile.name, asker: transferring.envelope, strict: false };
    await this.parts.locks.run([row.nodeId], () => this.parts.files.apply(row.nodeId, removals, options));
    const paths = gone.map(({ path }) => path);
    const tracked = await this.track(row, [...new Set(paths)], transferring);
    return new Map(
      gone.flatMap(({ fileId, path }) => {
        const again = tracked.get(path);
        return again ? [[fileId, again] as const] : [];
      }),
    );
  }

  /** A tracked file that is given by its very path, and is as it was seen last: so are most. Null for any other. */
  private async knownAt(row: MirrorRow, localPath: string, paths: PathFinder): Promise<TakenIn | null> {
    if (!isWithin(row.path, localPath)) return null;
    const file = this.parts.store.fileNamed(row.nodeId, relative(row.path, localPath).split(sep).join('/'));
    if (!file || file.isDeleted || file.stamp === null) return null;
    const { absolute } = await paths.locate(file.path).catch(() => ({ absolute: null }));
    const found = absolute === localPath ? await statOrNull(absolute) : null;
    const isSame =
      found?.isFile() && stampOf(found) === file.stamp && (file.inode ?? inodeOf(found)) === inodeOf(found);
    return isSame ? { fileId: file.fileId, path: file.path, absolute: localPath } : null;
  }

  private async placeOf(row: MirrorRow, localPath: string, section: Section): Promise<Placed> {
    const source = await this.sourceOf(localPath);
    const path = pathOf(source, row, section);
    return { source, path, isInside: source === (await locate(row.path, path)).absolute };
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

  /** Files in the folder that were not tracked yet are from now on. */
  private async track(
    row: MirrorRow,
    paths: readonly string[],
    { envelope }: Transferring,
  ): Promise<ReadonlyMap<string, TakenIn | { readonly refused: FileRefusal }>> {
    if (paths.length === 0) return new Map();
    return this.parts.locks.run([row.nodeId], async () => {
      sameFolder(this.parts, row);
      const found = await pMap(paths, (path) => orRefusal(() => this.deltaOf(row, path)), { concurrency: AT_ONCE });
      const deltas = found.flatMap((each) => ('kind' in each ? each : []));
      const options = { action: storeFile.name, asker: envelope, strict: false };
      const results = (await this.parts.files.apply(row.nodeId, deltas, options)).values();
      const next = (): DeltaResult => results.next().value ?? { file: null };
      return new Map(
        found.map((each, index) => {
          const path = paths[index] ?? '';
          return [path, 'kind' in each ? takenIn(path, next()) : each];
        }),
      );
    });
  }

  private async deltaOf(row: MirrorRow, path: string): Promise<FileDelta | TakenIn> {
    const file = this.parts.store.fileAt(row.nodeId, pathKey(path));
    const seen = await seenOrRead(await locate(row.path, path), file);
    if (!file) return { kind: 'register', path, seen };
    await refuseTwin(row, file, { path, seen });
    const isKnown = !file.isDeleted && file.sha256 === seen.sha256 && file.stamp === seen.stamp;
    return isKnown ? { fileId: file.fileId, path } : { kind: 'update', file, seen };
  }

  /** A path that has the very content already is left as it is: a repeated call ends as the first one. */
  private async copyIn(row: MirrorRow, { path, source }: Placed, { envelope, signal }: Transferring): Promise<TakenIn> {
    const known = this.parts.store.fileAt(row.nodeId, pathKey(path));
    const file = known && !known.isDeleted && known.path === path ? { id: known.fileId, path } : null;
    if (file && (await this.files.isCopyOf(row, file, { source, signal }))) return { fileId: file.id, path };
    const options = { envelope, action: storeFile.name, signal };
    return { fileId: await this.transfers.copyIn({ nodeId: row.nodeId, path }, source, options), path };
  }
}

/** Within the folder of the node the file keeps its place; any other comes into a section. */
function pathOf(source: string, row: MirrorRow, { status = 'wip', subpath }: Section): string {
  if (isWithin(row.path, source))
    return checkedPath(relative(row.path, source).split(sep).join('/'), 'local_path').path;
  const parts = [
    sectionOfStatus(status satisfies FileStatus),
    ...(subpath === undefined ? [] : [subpath]),
    basename(source),
  ];
  return checkedPath(parts.join('/'), subpath === undefined ? 'local_path' : 'subpath', { portable: true }).path;
}

function isWithin(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** A name that only a disk that ignores case takes for the one of the file is another file's. @throws ServiceError DESTINATION_EXISTS */
async function refuseTwin(
  row: MirrorRow,
  file: FileState,
  { path, seen }: { readonly path: string; readonly seen: SeenContent },
): Promise<void> {
  if (file.path === path || file.isDeleted) return;
  const other = await locate(row.path, file.path);
  const found = other.exists ? await statOrNull(other.absolute) : null;
  if (!found || inodeOf(found) === seen.inode) return;
  const message = `The name ${path} differs from ${file.path} only by case or Unicode form, which not every disk distinguishes; rename one of them.`;
  throw new ServiceError('DESTINATION_EXISTS', message, { path: file.path });
}

function takenIn(path: string, result: DeltaResult): TakenIn | { readonly refused: FileRefusal } {
  if ('refused' in result) return { refused: { code: result.refused, message: result.message } };
  return result.file ? { fileId: result.file.id, path } : { refused: refusalOf(absent(path)) };
}

function absent(path: string): ServiceError {
  return new ServiceError('FILE_NOT_FOUND', `There is no file ${path} in the folder of the node.`, { path });
}

async function orRefusal<T>(work: () => Promise<T>): Promise<T | { readonly refused: FileRefusal }> {
  try {
    return await work();
  } catch (error) {
    return { refused: refusalOf(error) };
  }
}
