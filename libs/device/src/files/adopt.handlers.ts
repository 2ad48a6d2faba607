import { Controller, Inject } from '@nestjs/common';
import {
  adoptFiles,
  type Envelope,
  type OutputOf,
  type ParsedInputOf,
  type Section,
  ServiceError,
  type TrackedFile,
} from '@workspace-graph/contracts';
import type { SeenContent } from '@workspace-graph/disk';
import { locate, seenOrRead } from '@workspace-graph/disk';
import { isIgnoredName, parseFilePath, pathKey, sectionOfStatus } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { FileDelta } from '../records/file-delta.js';
import type { DeltaResult } from '../records/tracked-files.js';
import type { MirrorRow } from '../store/device-store.js';
import { NodeFolders, sameFolder } from './node-folders.js';

type Input = ParsedInputOf<typeof adoptFiles>;
type Output = OutputOf<typeof adoptFiles>;

const NOT_HERE = 'is not a file in the folder of the node';

interface Skipped {
  readonly path: string;
  readonly reason: string;
}

type Register = FileDelta & { readonly kind: 'register' };

interface Wanted {
  readonly paths: readonly string[];
  /** Section of paths that name none. */
  readonly section: Section;
  readonly signal: AbortSignal;
}

type Found = { readonly path: string; readonly seen: SeenContent } | { readonly skipped: Skipped };

/** Taking files in that lie in a mirror and are not tracked. */
@Controller()
export class AdoptHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly folders: NodeFolders,
  ) {}

  @Handles(adoptFiles)
  async adopt(input: Input, context: OperationContext): Promise<Output> {
    const here = await this.adoptHere(input, context);
    const { centre } = this.parts;
    const absent = here.skipped.filter(({ reason }) => reason === NOT_HERE).map(({ path }) => path);
    if (!centre || absent.length === 0) return here;
    const { envelope } = context;
    // What was taken in here is answered, whatever becomes of the rest.
    const there = await centre.adopt({ ...input, paths: absent }, envelope).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      const reason = error.code === 'NO_REMOTE' ? NOT_HERE : error.message;
      return { files: [], skipped: absent.map((path) => ({ path, reason })) };
    });
    const ids = there.files.map(({ id }) => id);
    return {
      files: [...here.files, ...(await this.answers(ids, envelope))],
      skipped: [...here.skipped.filter(({ reason }) => reason !== NOT_HERE), ...there.skipped],
    };
  }

  private async adoptHere(
    { node_id, paths, status }: Input,
    { envelope, operation, signal }: OperationContext,
  ): Promise<Output> {
    const row = await this.folders.writable(node_id, envelope);
    return this.parts.locks.run([node_id], async () => {
      sameFolder(this.parts, row);
      const { deltas, skipped } = await this.findAll(row, { paths, section: sectionOfStatus(status), signal });
      const options = { action: operation.name, asker: envelope, strict: false };
      const results = deltas.length === 0 ? [] : await this.parts.files.apply(node_id, deltas, options);
      const refused = deltas.flatMap(({ path }, index) => refusalOf(path, results[index]) ?? []);
      const ids = results.flatMap((result) => ('file' in result && result.file ? [result.file.id] : []));
      return { files: await this.answers(ids, envelope), skipped: [...skipped, ...refused] };
    });
  }

  private async findAll(
    row: MirrorRow,
    { paths, section, signal }: Wanted,
  ): Promise<{ deltas: Register[]; skipped: Skipped[] }> {
    const skipped: Skipped[] = [];
    const deltas = new Map<string, Register>();
    for (const text of new Set(paths)) {
      signal.throwIfAborted();
      const found = await this.find(row, text, section);
      if ('skipped' in found) skipped.push(found.skipped);
      else if (deltas.has(pathKey(found.path))) skipped.push({ path: text, reason: 'is named twice' });
      else deltas.set(pathKey(found.path), { kind: 'register', ...found });
    }
    return { deltas: [...deltas.values()], skipped };
  }

  /** The files that are tracked now; none of them is left out by scans any more. */
  private async answers(ids: string[], envelope: Envelope): Promise<TrackedFile[]> {
    if (ids.length === 0) return [];
    const files = await this.parts.service.files({ ids }, envelope);
    const answers: TrackedFile[] = [];
    for (const placed of files) {
      this.parts.store.removeUntracked(placed.file.node_id, [pathKey(placed.file.path)]);
      answers.push(await this.folders.answer(placed, envelope));
    }
    return answers;
  }

  private async find(row: MirrorRow, text: string, section: Section): Promise<Found> {
    const skip = (reason: string): Found => ({ skipped: { path: text, reason } });
    const parsed = parseFilePath(text, { section });
    if ('problem' in parsed) return skip(parsed.problem);
    const { path } = parsed.value;
    const ignored = path.split('/').find(isIgnoredName);
    if (ignored !== undefined) return skip(`has the name ${ignored}, which is ignored everywhere`);
    const known = this.parts.store.fileAt(row.nodeId, pathKey(path));
    if (known && !known.isDeleted)
      return skip(known.path === path ? 'is already tracked' : `collides with ${known.path}`);
    try {
      return { path, seen: await seenOrRead(await locate(row.path, path), null) };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return skip(error.code === 'FILE_NOT_FOUND' ? NOT_HERE : error.message);
    }
  }
}

function refusalOf(path: string, result: DeltaResult | undefined): Skipped | null {
  return result && 'refused' in result ? { path, reason: result.message } : null;
}
