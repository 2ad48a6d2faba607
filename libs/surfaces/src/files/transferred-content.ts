import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Bus } from '@workspace-graph/bus';
import {
  type ByteRange,
  beginDownload,
  beginUpload,
  type ContentTarget,
  confirmContent,
  type Envelope,
  ERRORS,
  type ErrorBody,
  type FileContent,
  type OpenContent,
  type OpenContentOptions,
  RawJson,
  ServiceError,
  TrackedFile,
  type Transfer,
  type WriteContentOptions,
} from '@workspace-graph/contracts';

/** Between two parts of a content, after which the other side is taken for gone. */
const SILENCE_MS = 600_000;

/**
 * The bytes of files of a central workspace: every transfer is asked for over the bus, on behalf of the caller, and then
 * goes as one stream to the instance of the file service that waits for it.
 */
export class TransferredContent implements FileContent {
  constructor(private readonly bus: Pick<Bus, 'call'>) {}

  async confirm(nodeId: string, level: 'read' | 'write', envelope: Envelope): Promise<void> {
    await this.bus.call(confirmContent, { node_id: nodeId, level }, envelope);
  }

  /** Presentation bundles come as they are: their previews are made where the file lies on a disk. */
  async open(
    { nodeId, path }: ContentTarget,
    { signal }: OpenContentOptions,
    envelope: Envelope,
  ): Promise<OpenContent> {
    const options = signal ? { signal } : {};
    const told = parsed(await this.bus.call(beginDownload, { node_id: nodeId, path }, envelope, options));
    const ended = new AbortController();
    return {
      kind: 'file',
      filename: told.filename,
      mimeType: told.mime_type,
      sizeBytes: told.size_bytes,
      sha256: told.sha256,
      modifiedAt: new Date(told.modified_at),
      bytes: (range) => download(told.transfer, range, ended.signal),
      close: async () => ended.abort(new ServiceError('REQUEST_CANCELLED', 'The content is not read any more.')),
    };
  }

  create(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions,
    envelope: Envelope,
  ): Promise<TrackedFile> {
    return this.upload({ ...target, ifMatch: null, ...options }, bytes, envelope);
  }

  replace(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions & { readonly ifMatch: string },
    envelope: Envelope,
  ): Promise<TrackedFile> {
    return this.upload({ ...target, ...options }, bytes, envelope);
  }

  private async upload(
    { nodeId, path, ifMatch, text }: ContentTarget & WriteContentOptions & { readonly ifMatch: string | null },
    bytes: AsyncIterable<Uint8Array>,
    envelope: Envelope,
  ): Promise<TrackedFile> {
    const input = { node_id: nodeId, path, if_match: ifMatch, text };
    const { transfer } = parsed(await this.bus.call(beginUpload, input, envelope));
    return TrackedFile.parse(await put(transfer, bytes));
  }
}

/** @throws ServiceError what the file service answers; SERVICE_UNAVAILABLE when it is gone */
async function* download(
  transfer: Transfer,
  range: ByteRange | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {};
  const { sent, answered } = begin(transfer, { method: 'GET', headers, signal });
  sent.end();
  try {
    yield* (await accepted(await answered)) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw signal.aborted ? signal.reason : reasonOf(error);
  }
}

/** Sends a content. What it throws ends the transfer, and nothing is stored. @returns what is answered */
async function put(transfer: Transfer, bytes: AsyncIterable<Uint8Array>): Promise<unknown> {
  const { sent, answered } = begin(transfer, { method: 'PUT' });
  // A refusal may come before all bytes are sent: nobody waits for them then.
  let isAnswered = false;
  let goOn = (): void => undefined;
  void answered
    .catch(() => undefined)
    .then(() => {
      isAnswered = true;
      goOn();
    });
  try {
    for await (const chunk of bytes) {
      if (isAnswered) break;
      if (sent.write(chunk)) continue;
      await new Promise<void>((resolve) => {
        goOn = resolve;
        sent.once('drain', resolve);
      });
      sent.off('drain', goOn);
    }
    if (!isAnswered) sent.end();
    return await json(await accepted(await answered));
  } catch (error) {
    throw reasonOf(error);
  } finally {
    sent.destroy();
  }
}

function begin(
  { url, ticket }: Transfer,
  { headers = {}, ...options }: Pick<RequestOptions, 'method' | 'signal'> & { readonly headers?: object },
): { readonly sent: ClientRequest; readonly answered: Promise<IncomingMessage> } {
  const sent = request(url, { ...options, headers: { ...headers, authorization: `Bearer ${ticket}` } });
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  answered.catch(() => undefined);
  sent.once('response', resolve);
  // Also what comes after the answer, which nobody waits for any more.
  sent.on('error', reject);
  sent.setTimeout(SILENCE_MS, () => sent.destroy(new Error(`Nothing was heard for ${SILENCE_MS} ms`)));
  return { sent, answered };
}

/** The answer, when it is one of success. @throws ServiceError the refusal */
async function accepted(response: IncomingMessage): Promise<IncomingMessage> {
  if ((response.statusCode ?? 0) < 300) return response;
  const body = (await json(response)) as Partial<ErrorBody>;
  if (body.code !== undefined && body.code in ERRORS) throw ServiceError.fromBody(body as ErrorBody);
  throw new Error(`The answer ${response.statusCode} is no error of ours`);
}

/** What breaks off between the processes is told as such. */
function reasonOf(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const message = 'The transfer of the content broke off: try again in a moment.';
  return new ServiceError('SERVICE_UNAVAILABLE', message, {}, { cause: error });
}

function parsed<T>(reply: T | RawJson): T {
  return reply instanceof RawJson ? (reply.parse() as T) : reply;
}
