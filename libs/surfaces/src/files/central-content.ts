import type { IncomingMessage } from 'node:http';
import {
  BATCH_PATH,
  type ByteRange,
  type ContentTarget,
  type Envelope,
  type FileContent,
  type Framed,
  framed,
  LIMITS,
  type OpenContent,
  type OpenContentOptions,
  type Pull,
  type Push,
  type PushedFile,
  PushOutcome,
  SentContent,
  ServiceError,
  type TrackedFile,
  unframed,
  type WriteContentOptions,
  WrittenFile,
} from '@workspace-graph/contracts';
import { z } from 'zod';
import { bytesOf, fetchContent, fetchWith, upload, type Way } from './byte-transfer.js';
import { pushContent } from './push-content.js';

const Outcomes = z.object({ outcomes: z.array(PushOutcome) });

export interface CentralContentParts {
  /** Where the gateways answer. */
  readonly url: string;
  /** Token of the device. */
  readonly credential: () => string;
  /** Looks whether a caller may read, or write, the content of a node. @throws ServiceError */
  readonly confirm: FileContent['confirm'];
}

/** The bytes of files at the centre, over the routes of its gateways, in the name of the device. */
export class CentralContent implements FileContent {
  constructor(private readonly parts: CentralContentParts) {}

  /** The gateway knows the device alone: a caller with less is looked at here. */
  confirm(nodeId: string, level: 'read' | 'write', envelope: Envelope): Promise<void> {
    return this.parts.confirm(nodeId, level, envelope);
  }

  async open(target: ContentTarget, { signal }: OpenContentOptions, envelope: Envelope): Promise<OpenContent> {
    await this.confirm(target.nodeId, 'read', envelope);
    const ended = new AbortController();
    const way = this.wayTo(target, { raw: true });
    const signals = AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]);
    const whole = await fetchContent(way, { signal: signals });
    return {
      kind: 'file',
      filename: target.path.slice(target.path.lastIndexOf('/') + 1),
      ...toldBy(whole),
      // The answer that is there already is the whole of it; a part is asked for by itself.
      bytes: (range) => (range ? partOf(way, { whole, range, signal: ended.signal }) : bytesOf(whole, ended.signal)),
      close: async () => {
        ended.abort(new ServiceError('REQUEST_CANCELLED', 'The content is not read any more.'));
        whole.destroy();
      },
    };
  }

  create(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions,
    envelope: Envelope,
  ): Promise<TrackedFile> {
    return this.send(target, bytes, { envelope, headers: { 'if-none-match': '*', ...typeOf(options) } });
  }

  replace(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    { ifMatch, ...options }: WriteContentOptions & { readonly ifMatch: string },
    envelope: Envelope,
  ): Promise<TrackedFile> {
    return this.send(target, bytes, { envelope, headers: { 'if-match': `"${ifMatch}"`, ...typeOf(options) } });
  }

  /** Sends a content to the place of its file on the remote; `bytes` are those after an offset. @throws ServiceError of `begin_push`, and what breaks off */
  push(push: Push, bytes: (from: number) => AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<PushedFile> {
    return pushContent(this.parts, { push, bytes }, signal);
  }

  /** Sends small contents of files of a node together. Answers what became of each. @throws ServiceError of `begin_pushes`, and what breaks off */
  async pushAll(
    nodeId: string,
    contents: AsyncIterable<Framed<Push>>,
    signal: AbortSignal,
  ): Promise<readonly PushOutcome[]> {
    const headers = { 'content-type': 'application/octet-stream' };
    return Outcomes.parse(await upload(this.wayToMany(nodeId), framed(contents), { headers, signal })).outcomes;
  }

  /** Fetches small contents of files of a node together, in the order of `pulls`. @throws ServiceError of `begin_pulls`, and what breaks off */
  async *pullAll(nodeId: string, pulls: readonly Pull[], signal: AbortSignal): AsyncGenerator<Framed<SentContent>> {
    const answer = await fetchWith(this.wayToMany(nodeId), { pulls }, signal);
    for await (const { header, bytes } of unframed(bytesOf(answer, signal), LIMITS.batchedFileBytes))
      yield { header: SentContent.parse(header), bytes };
  }

  private async send(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    { envelope, headers }: { readonly envelope: Envelope; readonly headers: Readonly<Record<string, string>> },
  ): Promise<TrackedFile> {
    await this.confirm(target.nodeId, 'write', envelope);
    return WrittenFile.parse(await upload(this.wayTo(target), bytes, { headers })).file;
  }

  private wayToMany(nodeId: string): Way {
    return {
      url: new URL(BATCH_PATH.replace('{node_id}', nodeId), this.parts.url),
      credential: this.parts.credential(),
    };
  }

  private wayTo({ nodeId, path }: ContentTarget, query: { readonly raw?: true } = {}): Way {
    const url = new URL(`/nodes/${encodeURIComponent(nodeId)}/file`, this.parts.url);
    url.searchParams.set('path', path);
    if (query.raw) url.searchParams.set('raw', 'true');
    return { url, credential: this.parts.credential() };
  }
}

function typeOf({ text }: WriteContentOptions): Readonly<Record<string, string>> {
  return { 'content-type': text ? 'text/plain; charset=utf-8' : 'application/octet-stream' };
}

function toldBy({ headers }: IncomingMessage): Pick<OpenContent, 'mimeType' | 'sizeBytes' | 'sha256' | 'modifiedAt'> {
  return {
    mimeType: headers['content-type']?.replace(/;.*$/, '') ?? 'application/octet-stream',
    sizeBytes: Number(headers['content-length'] ?? 0),
    sha256: headers.etag?.replace(/"/g, '') ?? '',
    modifiedAt: new Date(headers['last-modified'] ?? 0),
  };
}

async function* partOf(
  way: Way,
  {
    whole,
    range,
    signal,
  }: { readonly whole: IncomingMessage; readonly range: ByteRange; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  whole.destroy();
  const part = await fetchContent(way, { range, signal });
  if (part.headers.etag !== whole.headers.etag) {
    part.destroy();
    throw new ServiceError('SERVICE_UNAVAILABLE', 'The file has changed while it was read: begin anew.');
  }
  yield* bytesOf(part, signal);
}
