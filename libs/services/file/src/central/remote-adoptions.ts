import { Injectable } from '@nestjs/common';
import {
  type adoptFiles,
  type FileRecord,
  type OutputOf,
  type ParsedInputOf,
  type RawJson,
  type TrackedFile,
} from '@workspace-graph/contracts';
import { appliedBefore, appliedOnce, type CommandContext, Database, runCommand } from '@workspace-graph/database';
import { isIgnoredName, parseFilePath, pathKey, sectionOfStatus } from '@workspace-graph/domain';
import type { RemoteDocument } from '@workspace-graph/remotes';
import pMap from 'p-map';
import { applyChanges } from '../changes/apply-changes.js';
import type { RecordChange } from '../changes/plan-changes.js';
import type { HeldRemote } from '../remotes/remote-pool.js';
import type { LiveContent } from './live-contents.js';
import type { RemoteObject } from './object-locks.js';
import { recordDocument, recordedContent, recordObject } from './record-changes.js';
import { answerOf, objectAt, RemoteFiles } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';

type Input = ParsedInputOf<typeof adoptFiles>;
type Output = OutputOf<typeof adoptFiles>;
type Skipped = Output['skipped'][number];

interface Adopting {
  readonly input: Input;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

/** A path at which something may lie that nobody tracks. */
interface Wanted {
  readonly path: string;
  readonly object: RemoteObject;
}

/** What lies there: a content, or a document without one. */
type There = Wanted & ({ readonly live: LiveContent } | { readonly document: RemoteDocument });
type Found = There | { readonly skipped: Skipped };

/** Contents that are read at once. */
const AT_ONCE = 8;

/** Takes files in that lie on the remote of a node and are not tracked. */
@Injectable()
export class RemoteAdoptions {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
  ) {}

  /** @throws ServiceError NODE_NOT_FOUND, FORBIDDEN, NO_REMOTE, REMOTE_REFUSED, REMOTE_UNAVAILABLE */
  run(adopting: Adopting): Promise<Output | RawJson> {
    const { context } = adopting;
    return appliedOnce(
      this.database,
      context,
      async () => (await appliedBefore(this.database, context)) ?? this.adopt(adopting),
    );
  }

  private async adopt(adopting: Adopting): Promise<Output | RawJson> {
    const { wanted, skipped } = await this.plan(adopting);
    const [first, ...others] = wanted.map(({ object }) => object);
    if (!first) return { files: [], skipped };
    const { signal, input } = adopting;
    return this.objects.change([first, ...others], { path: input.node_id, signal }, async (held, locked) => {
      const paths = wanted.map(({ object }) => object.path);
      const known = await this.files.othersObjects(held.name, paths, adopting.context.caller);
      const found = await pMap(wanted, (one) => this.look(held, one, { known, signal: locked }), {
        concurrency: AT_ONCE,
      });
      const there = found.filter((one): one is There => !('skipped' in one));
      const left = found.flatMap((one) => ('skipped' in one ? [one.skipped] : []));
      return this.record(adopting, there, [...skipped, ...left]);
    });
  }

  /** What can be decided by the names alone. */
  private async plan({ input, context }: Adopting): Promise<{ wanted: Wanted[]; skipped: Skipped[] }> {
    const { node_id, status, paths } = input;
    const node = await this.files.writable(node_id, context.caller);
    const remote = await this.files.remoteOf(node);
    const section = sectionOfStatus(status);
    const parsed = [...new Set(paths)].map((text) => ({ text, read: parseFilePath(text, { section }) }));
    const valid = parsed.flatMap(({ read }) => ('problem' in read ? [] : read.value.path));
    const taken = await this.files.taken(node_id, valid);
    const wanted = new Map<string, Wanted>();
    const skipped: Skipped[] = [];
    for (const { text, read } of parsed) {
      if ('problem' in read) {
        skipped.push({ path: text, reason: read.problem });
        continue;
      }
      const { path } = read.value;
      const key = pathKey(path);
      const reason = wanted.has(key) ? 'is named twice' : obstacle(path, taken.get(key));
      if (reason !== null) skipped.push({ path: text, reason });
      else wanted.set(key, { path, object: objectAt(remote, node, path) });
    }
    return { wanted: [...wanted.values()], skipped };
  }

  private async look(
    held: HeldRemote,
    wanted: Wanted,
    { known, signal }: { readonly known: ReadonlySet<string>; readonly signal: AbortSignal },
  ): Promise<Found> {
    const { path, object } = wanted;
    const skip = (reason: string): Found => ({ skipped: { path, reason } });
    const entry = await held.remote.stat(object.path, { signal });
    if (entry?.kind !== 'file' && entry?.kind !== 'document') return skip('is not a file on the remote of the node');
    if (known.has(object.path)) return skip('is the content of another file');
    if (entry.kind === 'document') return { ...wanted, document: entry };
    return { ...wanted, live: await this.objects.contents.of(held, { entry, known: null, path }, signal) };
  }

  private record(
    { input: { node_id }, context }: Adopting,
    found: readonly There[],
    skipped: readonly Skipped[],
  ): Promise<Output | RawJson> {
    return runCommand(this.database, context, async (tx) => {
      if (found.length === 0) return { files: [], skipped: [...skipped] };
      const changes = found.map(changeFor);
      const action = context.operation.name;
      const { results } = await applyChanges(tx, { node_id, action, strict: true, changes });
      const files: TrackedFile[] = [];
      for (const [index, result] of results.entries()) {
        const [id, one] = ['file' in result ? result.file?.id : undefined, found[index]];
        if (id === undefined || !one) throw new Error('a registered file has a record');
        if ('live' in one) await recordObject(tx, id, { ...one.object, live: one.live });
        else await recordDocument(tx, id, { ...one.object, document: one.document });
        files.push(await answerOf(tx, id));
      }
      return { files, skipped: [...skipped] };
    });
  }
}

function changeFor(there: There): RecordChange {
  const { path } = there;
  if ('live' in there) return { kind: 'register', path, ...recordedContent(path, there.live) };
  const { mediaType: mime_type, modifiedAt } = there.document;
  return { kind: 'document', path, mime_type, modified_at: new Date(modifiedAt).toISOString() };
}

/** Why a path is not free for a file that is not tracked yet. */
function obstacle(path: string, there: FileRecord | undefined): string | null {
  const ignored = path.split('/').find(isIgnoredName);
  if (ignored !== undefined) return `has the name ${ignored}, which is ignored everywhere`;
  if (!there) return null;
  return there.path === path ? 'is already tracked' : `collides with ${there.path}`;
}
