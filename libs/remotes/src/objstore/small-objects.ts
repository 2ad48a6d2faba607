import { pathKey } from '@workspace-graph/domain';
import pMap from 'p-map';
import {
  type CallOptions,
  folderOf,
  type NewContent,
  RemoteFailure,
  type SmallContents,
  type WholeContent,
} from '../port/index.js';
import type { S3Http } from './s3-http.js';
import { fileOf, objectOf, type S3Keys, type S3Place } from './s3-keys.js';

/** What the remote does with one path. */
interface Means {
  /** @throws RemoteFailure `name_refused` */
  checked(path: string): string;
  inTurn<T>(work: () => Promise<T>, target: string, ...others: readonly string[]): Promise<T>;
  put(place: S3Place, content: Uint8Array, expected: string | null): Promise<Headers>;
}

/** Requests that are under way at once. */
const AT_ONCE = 32;

/** Small objects: those of one folder are looked for in one listing, and each is sent or fetched in one request. */
export class SmallObjects implements SmallContents {
  constructor(
    private readonly http: S3Http,
    private readonly keys: S3Keys,
    private readonly means: Means,
  ) {}

  async write(contents: readonly NewContent[], options: CallOptions = {}): Promise<PromiseSettledResult<string>[]> {
    const told = new Map<NewContent, PromiseSettledResult<string>>();
    const places = new Map<NewContent, string>();
    const taken = new Set<string>();
    for (const content of contents)
      try {
        const path = this.means.checked(content.path);
        // Neither of two that differ by case alone would find the other in the listing.
        if (taken.has(pathKey(path))) throw new RemoteFailure('exists', { path });
        taken.add(pathKey(path));
        places.set(content, path);
      } catch (reason) {
        told.set(content, { status: 'rejected', reason });
      }
    for (const [, group] of Map.groupBy(places, ([, path]) => folderOf(path)))
      for (const [content, outcome] of await this.writeIn(group, options)) told.set(content, outcome);
    options.signal?.throwIfAborted();
    return contents.flatMap((content) => told.get(content) ?? []);
  }

  async read(
    files: readonly { readonly path: string; readonly maxBytes: number }[],
    { signal }: CallOptions = {},
  ): Promise<(WholeContent | null)[]> {
    // What stands in the way is told of one that is read by itself.
    const one = async ({ path, maxBytes }: { readonly path: string; readonly maxBytes: number }) =>
      this.readOne(path, maxBytes, signal).catch(() => null);
    const contents = await pMap(files, one, { concurrency: AT_ONCE });
    signal?.throwIfAborted();
    return contents;
  }

  /** All of them are of one folder. */
  private async writeIn(
    group: readonly (readonly [NewContent, string])[],
    { signal }: CallOptions,
  ): Promise<(readonly [NewContent, PromiseSettledResult<string>])[]> {
    const paths = group.map(([, path]) => path);
    const [target = '', ...others] = paths;
    const write = async (): Promise<PromiseSettledResult<string>[]> => {
      const places = await this.keys.locateAll(paths, { signal });
      signal?.throwIfAborted();
      // From here on each is carried out or refused: whoever broke it off now would not know which.
      const one = async ([content]: readonly [NewContent, string], index: number) => {
        const place = places[index];
        if (!place) throw new Error(`${content.path} was not looked at`);
        const [outcome] = await Promise.allSettled([this.writeAt(place, content.bytes)]);
        return outcome;
      };
      return await pMap(group, one, { concurrency: AT_ONCE });
    };
    const outcomes = await this.means
      .inTurn(write, target, ...others)
      .catch((reason: unknown) => paths.map((): PromiseSettledResult<string> => ({ status: 'rejected', reason })));
    return group.flatMap(([content], index) => {
      const outcome = outcomes[index];
      return outcome ? [[content, outcome] as const] : [];
    });
  }

  private async writeAt(place: S3Place, bytes: Uint8Array): Promise<string> {
    const { path, key } = place;
    const headers = await this.means.put(place, bytes, null);
    const etag = headers.get('etag');
    const found = etag === null ? await this.keys.look(key, { path }) : { etag, sizeBytes: bytes.length, modified: '' };
    if (!found) throw new RemoteFailure('changed', { path, current: null });
    return fileOf(path, found).revision;
  }

  private async readOne(path: string, maxBytes: number, signal: AbortSignal | undefined): Promise<WholeContent | null> {
    const checked = this.means.checked(path);
    const response = await this.http.send('GET', this.keys.keyOf(checked), { path: checked, signal, accept: [404] });
    const file = fileOf(checked, objectOf(response.headers));
    if (response.status === 404 || file.revision === '' || file.sizeBytes > maxBytes) {
      await response.body?.cancel();
      return null;
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    return bytes.length === file.sizeBytes ? { file, bytes } : null;
  }
}
