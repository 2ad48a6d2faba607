import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Controller } from '@nestjs/common';
import {
  LIMITS,
  listFiles,
  type OutputOf,
  type ParsedInputOf,
  type PlacedFile,
  readFile,
} from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { EXCERPT_BYTES, excerptOf, inlineContent, mimeTypeOf } from '@workspace-graph/disk';
import { trackedFile } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { pageOfFiles } from '../records/query-files.js';
import type { HeldRemote } from '../remotes/remote-pool.js';
import type { LiveContent } from './live-contents.js';
import { objectOf, pathNotFound, RemoteFiles } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';
import { settled } from './settled-reads.js';

type Answer = OutputOf<typeof readFile>;

/** Listing and reading files for whoever has no workstation: records from the database, contents from the remotes. */
@Controller()
export class CentreReadHandlers {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
  ) {}

  @Handles(listFiles)
  async list(
    input: ParsedInputOf<typeof listFiles>,
    { caller }: OperationContext,
  ): Promise<OutputOf<typeof listFiles>> {
    const page = await pageOfFiles(this.database, input, caller);
    const { items, next_cursor } = page.parse() as { items: PlacedFile[]; next_cursor: string | null };
    return { items: items.map(trackedFile), next_cursor };
  }

  /** No path on disk is told: there is none that the caller could open. */
  @Handles(readFile)
  async read({ node_id, path }: ParsedInputOf<typeof readFile>, { caller, signal }: OperationContext): Promise<Answer> {
    const found = await this.files.readable(node_id, path, caller);
    const object = objectOf(found);
    if (!object) throw pathNotFound(node_id, path);
    const told = await this.objects.look(object, found.file.path, (held) =>
      settled(path, async () => answerOf(held, await this.objects.contents.require(held, found, signal), signal)),
    );
    return { ...told, mime: mimeTypeOf(found.file.path), path: null };
  }
}

/** What is told of a content; null when it was replaced while it was read. */
async function answerOf(
  { remote }: HeldRemote,
  { entry, sha256 }: LiveContent,
  signal: AbortSignal,
): Promise<Pick<Answer, 'bytes' | 'sha256' | 'content' | 'excerpt'> | null> {
  const isWhole = entry.sizeBytes <= LIMITS.inlineFileBytes;
  const range = isWhole ? {} : { range: { offset: 0, length: EXCERPT_BYTES } };
  await using content = await remote.read(entry.path, { expected: entry.revision, signal, ...range });
  const bytes = await buffer(content.bytes);
  const told = { bytes: entry.sizeBytes, sha256 };
  if (!isWhole) return { ...told, content: null, excerpt: excerptOf(bytes, entry.sizeBytes) };
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) return null;
  return { ...told, content: inlineContent(bytes) };
}
