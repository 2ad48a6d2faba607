import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { type Caller, type Framed, LIMITS, type Pull, refusalOf, type SentContent } from '@workspace-graph/contracts';
import { fileNotFound } from '../shared/caller.js';
import { beingWritten } from './read.handlers.js';
import type { FoundFile } from './remote-file.statements.js';
import { isNative, objectOf, pathNotFound, RemoteFiles } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';

/** Contents of files of one node that a device wants, on behalf of its person. */
export interface PullBatch {
  readonly nodeId: string;
  readonly pulls: readonly Pull[];
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

type Sent = Framed<SentContent>;

/** Contents that are read at once, which are held in memory meanwhile. */
const AT_ONCE = 8;
const NONE = new Uint8Array();

/** Small contents that devices fetch together, in the order in which they ask for them. */
@Injectable()
export class PullBatches {
  constructor(
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
  ) {}

  /** What is refused of one is told in its place. @throws what is no refusal; the reason of the signal */
  async *send({ nodeId, pulls, caller, signal }: PullBatch): AsyncGenerator<Sent> {
    const found = await this.files.some(
      pulls.map(({ file_id }) => file_id),
      caller,
    );
    const ahead: Promise<Sent>[] = [];
    const queue = pulls.values();
    const more = (): void => {
      for (const pull of queue) {
        const reading = this.read(nodeId, { pull, found: found.get(pull.file_id) }, signal);
        // Whoever comes to it hears of it; nobody does when the device goes away.
        reading.catch(() => undefined);
        ahead.push(reading);
        return;
      }
    };
    for (let count = 0; count < AT_ONCE; count += 1) more();
    let sentBytes = 0;
    for (let next = ahead.shift(); next; next = ahead.shift()) {
      more();
      const sent = await next;
      sentBytes += sent.bytes.length;
      yield sentBytes > LIMITS.batchBytes ? { header: tooLarge(sent.header.file_id), bytes: NONE } : sent;
    }
  }

  private async read(
    nodeId: string,
    { pull: { file_id, has }, found }: { readonly pull: Pull; readonly found: FoundFile | undefined },
    signal: AbortSignal,
  ): Promise<Sent> {
    try {
      if (!found || found.file.node_id !== nodeId) throw fileNotFound(file_id);
      const { path } = found.file;
      if (found.file.is_native_format) throw isNative(path);
      const object = objectOf(found);
      if (!object) throw pathNotFound(nodeId, path);
      return await this.objects.look(object, path, async (held) => {
        const { entry, sha256 } = await this.objects.contents.require(held, found, signal);
        if (sha256 === has) return { header: { file_id, state: 'same', sha256 }, bytes: NONE };
        if (entry.sizeBytes > LIMITS.batchedFileBytes) return { header: tooLarge(file_id), bytes: NONE };
        await using content = await held.remote.read(object.path, { expected: entry.revision, signal });
        const bytes = await buffer(content.bytes);
        if (createHash('sha256').update(bytes).digest('hex') !== sha256) throw beingWritten(path);
        return { header: { file_id, state: 'sent', sha256 }, bytes };
      });
    } catch (error) {
      return { header: { file_id, state: 'refused', refused: refusalOf(error) }, bytes: NONE };
    }
  }
}

function tooLarge(file_id: string): SentContent {
  return { file_id, state: 'too_large' };
}
