import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { type Caller, type Framed, LIMITS, type Pull, refusalOf, type SentContent } from '@workspace-graph/contracts';
import pMap from 'p-map';
import type { HeldRemote } from '../remotes/remote-pool.js';
import { fileNotFound } from '../shared/caller.js';
import type { RemoteObject } from './object-locks.js';
import type { FoundFile } from './remote-file.statements.js';
import { isNative, objectOf, pathNotFound, RemoteFiles, storedHashOf } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';
import { settled } from './settled-reads.js';

/** Contents of files of one node that a device wants, on behalf of its person. */
export interface PullBatch {
  readonly nodeId: string;
  readonly pulls: readonly Pull[];
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

type Sent = Framed<SentContent>;

/** A file that is wanted, as the caller sees it. */
interface Wanted {
  readonly pull: Pull;
  readonly found: FoundFile | undefined;
}

/** A file of which nothing lies at the device, by what its record tells. */
interface Fresh {
  readonly found: FoundFile;
  readonly object: RemoteObject;
  readonly maxBytes: number;
}

/** Contents that are read together, which are held in memory meanwhile; of which the next ones are read while some are sent. */
const GROUP = 64;
const GROUP_BYTES = 1_048_576;
/** Contents that are read by themselves at once. */
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
    const groups = groupsOf(pulls.map((pull) => ({ pull, found: found.get(pull.file_id) })));
    const begin = (group: readonly Wanted[]): Promise<readonly Sent[]> => {
      const reading = this.readAll(nodeId, group, signal);
      // Whoever comes to it hears of it; nobody does when the device goes away.
      reading.catch(() => undefined);
      return reading;
    };
    let sentBytes = 0;
    let ahead = begin(groups[0] ?? []);
    for (let index = 1; index <= groups.length; index += 1) {
      const contents = await ahead;
      ahead = begin(groups[index] ?? []);
      for (const sent of contents) {
        sentBytes += sent.bytes.length;
        yield sentBytes > LIMITS.batchBytes ? { header: tooLarge(sent.header.file_id), bytes: NONE } : sent;
      }
    }
  }

  private async readAll(nodeId: string, group: readonly Wanted[], signal: AbortSignal): Promise<readonly Sent[]> {
    const together = await this.readTogether(
      group.flatMap((wanted) => freshOf(nodeId, wanted)),
      signal,
    );
    const one = async (wanted: Wanted): Promise<Sent> =>
      together.get(wanted.pull.file_id) ?? (await this.read(nodeId, wanted, signal));
    return await pMap(group, one, { concurrency: AT_ONCE });
  }

  /** By file; those that are out of the ordinary are missing. */
  private async readTogether(files: readonly Fresh[], signal: AbortSignal): Promise<ReadonlyMap<string, Sent>> {
    const sent = new Map<string, Sent>();
    for (const [, group] of Map.groupBy(files, ({ object }) => object.remote)) {
      const [first] = group;
      if (!first) continue;
      const wanted = group.map(({ object: { path }, maxBytes }) => ({ path, maxBytes }));
      const look = this.objects.look(first.object, first.found.file.path, ({ remote }) =>
        remote.together ? remote.together.read(wanted, { signal }) : Promise.resolve([]),
      );
      // What is refused of all of them is told of each.
      const contents = await look.catch(() => []);
      signal.throwIfAborted();
      for (const [index, { found }] of group.entries()) {
        const content = contents[index];
        const sha256 = content && createHash('sha256').update(content.bytes).digest('hex');
        // What is not the content of its revision is looked at once more, and refused.
        if (!sha256 || (content.file.revision === found.remote_revision && sha256 !== storedHashOf(found))) continue;
        const file_id = found.file.id;
        sent.set(file_id, { header: { file_id, state: 'sent', sha256 }, bytes: content.bytes });
      }
    }
    return sent;
  }

  private async read(nodeId: string, { pull: { file_id, has }, found }: Wanted, signal: AbortSignal): Promise<Sent> {
    try {
      if (!found || found.file.node_id !== nodeId) throw fileNotFound(file_id);
      const { path } = found.file;
      if (found.file.is_native_format) throw isNative(path);
      const object = objectOf(found);
      if (!object) throw pathNotFound(nodeId, path);
      const read = async (held: HeldRemote): Promise<Sent | null> => {
        const { entry, sha256 } = await this.objects.contents.require(held, found, signal);
        if (sha256 === has) return { header: { file_id, state: 'same', sha256 }, bytes: NONE };
        if (entry.sizeBytes > LIMITS.batchedFileBytes) return { header: tooLarge(file_id), bytes: NONE };
        await using content = await held.remote.read(object.path, { expected: entry.revision, signal });
        const bytes = await buffer(content.bytes);
        if (createHash('sha256').update(bytes).digest('hex') !== sha256) return null;
        return { header: { file_id, state: 'sent', sha256 }, bytes };
      };
      return await this.objects.look(object, path, (held) => settled(path, () => read(held)));
    } catch (error) {
      return { header: { file_id, state: 'refused', refused: refusalOf(error) }, bytes: NONE };
    }
  }
}

/** As many as are read together. */
function groupsOf(wanted: readonly Wanted[]): Wanted[][] {
  const groups: Wanted[][] = [];
  let bytes = 0;
  for (const each of wanted) {
    const last = groups.at(-1);
    bytes += each.found?.file.size_bytes ?? 0;
    if (last && last.length < GROUP && bytes <= GROUP_BYTES) last.push(each);
    else {
      groups.push([each]);
      bytes = each.found?.file.size_bytes ?? 0;
    }
  }
  return groups;
}

/** Nothing for a file that is out of the ordinary. */
function freshOf(nodeId: string, { pull, found }: Wanted): Fresh[] {
  if (pull.has !== null || found?.file.node_id !== nodeId || found.file.is_native_format) return [];
  const object = objectOf(found);
  const maxBytes = Math.min(found.file.size_bytes ?? 0, LIMITS.batchedFileBytes);
  return object ? [{ found, object, maxBytes }] : [];
}

function tooLarge(file_id: string): SentContent {
  return { file_id, state: 'too_large' };
}
