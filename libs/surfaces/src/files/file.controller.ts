import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Controller, Get, HttpStatus, Inject, Put, Req, Res } from '@nestjs/common';
import {
  type ByteRange,
  type ContentTarget,
  type Envelope,
  type FileContent,
  FilePath,
  Id,
  LIMITS,
  type OpenContent,
  readInput,
  ServiceError,
  validationFailed,
  WrittenFile,
} from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { admissionOf } from '../edge/admission.js';
import { EdgeRoute } from '../edge/edge-route.js';
import { bodyStream, confirmedAtEnd } from '../rest/arriving-body.js';
import { tagMatched } from '../rest/conditions.js';
import { OperationCalls } from '../rest/operation-calls.js';
import { coerceQuery, coercionsOf } from '../rest/query-coercion.js';
import { callerOf, sendJson, sendNotModified } from '../rest/rest-invoker.js';
import { rangeAsked } from './byte-range.js';
import { contentHeaders, isTextType } from './content-headers.js';
import { FILE_CONTENT } from './file-content.token.js';
import { noPreviewPage } from './no-preview-page.js';
import { leaveUnread } from './unread-rest.js';

const CHUNK_BYTES = 256 * 1024;
/** Looks at a content that is replaced before its first bytes are there. */
const READ_ATTEMPTS = 3;
const SHA_TAG = /^"([0-9a-f]{64})"$/;

export const ReadQuery = z.strictObject({
  path: FilePath,
  raw: z.boolean().default(false).describe('True: the bytes of a .deck bundle instead of its preview.'),
  preview: z
    .boolean()
    .default(false)
    .describe('True: HTML and PDF to be shown in place of saved. HTML runs and loads nothing.'),
});
export const WriteQuery = ReadQuery.pick({ path: true });
const READ_COERCIONS = coercionsOf(ReadQuery);

/** The bytes of one file, read in ranges and replaced on a condition, in constant memory. */
@Controller('nodes/:node_id/file')
export class FileController {
  constructor(
    @Inject(FILE_CONTENT) private readonly content: FileContent,
    @Inject(OperationCalls) private readonly calls: OperationCalls,
  ) {}

  /** HEAD too: the router answers it with the same handler. */
  @Get()
  @EdgeRoute({ tier: 'read' })
  async read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const nodeId = await nodeIdOf(request, this.calls);
    const given = coerceQuery(READ_COERCIONS, request.query as Record<string, string>);
    const { path, raw, preview } = queryOf(ReadQuery, given);
    const options = { raw, signal: request.signal };
    const open = () => this.content.open({ nodeId, path }, options, envelopeOf(request));
    let content = await open();
    restOnNode(request, this.content, { nodeId, level: 'read' });
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await answer({ content, headers: contentHeaders(content, { preview }) }, request, reply);
      } catch (error) {
        await content.close();
        if (attempt === READ_ATTEMPTS || !isReplaced(error)) throw error;
        content = await open();
      }
    }
  }

  @Put()
  @EdgeRoute({ tier: 'write', streamsBody: true, takesBytes: true })
  async write(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    try {
      const { file, status } = await this.store(request);
      reply.code(status).header('etag', `"${file.sha256 ?? ''}"`);
      await sendJson(reply, JSON.stringify(WrittenFile.parse({ file, version: file.version })));
    } catch (error) {
      leaveUnread(request, reply);
      const current = currentTag(error);
      if (current !== undefined) reply.header('etag', current);
      throw error;
    }
  }

  private async store(request: FastifyRequest) {
    const target: ContentTarget = {
      nodeId: await nodeIdOf(request, this.calls),
      ...queryOf(WriteQuery, request.query),
    };
    const ifMatch = conditionOf(request);
    restOnNode(request, this.content, { nodeId: target.nodeId, level: 'write' });
    const bytes = confirmedAtEnd(bodyStream(request, LIMITS.uploadBytes), admissionOf(request));
    const options = { text: isTextType(request.headers['content-type']) };
    const envelope = envelopeOf(request);
    if (ifMatch === null)
      return { file: await this.content.create(target, bytes, options, envelope), status: HttpStatus.CREATED };
    return {
      file: await this.content.replace(target, bytes, { ...options, ifMatch }, envelope),
      status: HttpStatus.OK,
    };
  }
}

/** The envelope of a request for the port. */
export function envelopeOf(request: FastifyRequest): Envelope {
  const traceparent = request.edge?.span.traceparent;
  return {
    callId: randomUUID(),
    requestId: request.id,
    caller: callerOf(request),
    ...(traceparent ? { traceparent } : {}),
  };
}

/** The request ends when its caller may no longer read, or write, the content of the node. */
export function restOnNode(
  request: FastifyRequest,
  content: FileContent,
  { nodeId, level }: { readonly nodeId: string; readonly level: 'read' | 'write' },
): void {
  admissionOf(request).restOn(() => content.confirm(nodeId, level, envelopeOf(request)));
}

/** The node that the path of the request names. @throws ServiceError VALIDATION_FAILED, NODE_NOT_FOUND */
export async function nodeIdOf(request: FastifyRequest, calls: OperationCalls): Promise<string> {
  const named = request.params as Readonly<Record<string, unknown>>;
  // Without the signal of the request: that of one with a body ends as soon as the body was read.
  const input = await calls.withIds(named, { request, caller: callerOf(request), options: {} });
  return queryOf(z.strictObject({ node_id: Id }), input).node_id;
}

/** @throws ServiceError VALIDATION_FAILED that names the fields */
export function queryOf<T>(schema: z.ZodType<T>, query: unknown): T {
  return readInput(schema, query);
}

/** Whether a content is another one than was told by now, or its bytes did not come. Nothing has been answered yet. */
function isReplaced(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
}

/** Content, and the headers that it is answered with. */
interface Told {
  readonly content: OpenContent;
  readonly headers: ReturnType<typeof contentHeaders>;
}

async function answer(told: Told, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { content } = told;
  const { headers, method } = request;
  if (content.kind === 'no-preview') return answerNoPreview(told, request, reply);
  const tag = `"${content.sha256}"`;
  if (tagMatched(headers['if-none-match'], tag) !== undefined) {
    await content.close();
    return sendNotModified(reply.headers(told.headers));
  }
  const range = method === 'GET' ? rangeOf(content, tag, request, reply) : undefined;
  const stream = method === 'GET' ? await streamOf(content, range) : await nothingOf(content);
  const lengthBytes = range ? range.end - range.start + 1 : content.sizeBytes;
  reply.code(range ? HttpStatus.PARTIAL_CONTENT : HttpStatus.OK).headers(told.headers);
  if (range) reply.header('content-range', `bytes ${range.start}-${range.end}/${content.sizeBytes}`);
  reply.header('content-length', String(lengthBytes));
  await reply.send(stream);
}

async function answerNoPreview(told: Told, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await told.content.close();
  const page = Buffer.from(noPreviewPage(request.headers['accept-language']));
  reply.headers(told.headers).header('vary', 'Accept-Encoding, Accept-Language, Origin');
  reply.header('x-deck-preview', 'missing').header('content-length', String(page.length));
  await reply.send(Readable.from(request.method === 'GET' ? [page] : [], { objectMode: false }));
}

/** @throws ServiceError RANGE_NOT_SATISFIABLE, with the header that belongs to it */
function rangeOf(
  { sizeBytes }: OpenContent,
  tag: string,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): ByteRange | undefined {
  const condition = headers['if-range'];
  if (condition !== undefined && condition !== tag) return undefined;
  try {
    return rangeAsked(headers.range, sizeBytes);
  } catch (error) {
    reply.header('content-range', `bytes */${sizeBytes}`);
    throw error;
  }
}

/** The content as a stream whose first bytes are there: until then a failure can still be answered. */
async function streamOf(content: OpenContent, range: ByteRange | undefined): Promise<Readable> {
  const bytes = content.bytes(range)[Symbol.asyncIterator]();
  const first = await bytes.next();
  const stream = Readable.from(chunks(first, bytes), { objectMode: false, highWaterMark: CHUNK_BYTES });
  // A stream that ends before anybody read of it has not begun to run either.
  stream.once('close', () => void content.close());
  return stream;
}

/** What HEAD answers. A stream, since the server would count the bytes of anything else anew. */
async function nothingOf(content: OpenContent): Promise<Readable> {
  await content.close();
  return Readable.from([]);
}

async function* chunks(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value;
}

/** The hash that is replaced; null when the file is to be new. @throws ServiceError VALIDATION_FAILED */
function conditionOf({ headers }: FastifyRequest): string | null {
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  if (ifMatch !== undefined && ifNoneMatch !== undefined)
    throw validationFailed([{ path: 'If-None-Match', message: 'cannot be sent together with If-Match' }]);
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch.trim() === '*') return null;
    throw validationFailed([{ path: 'If-None-Match', message: 'must be *, which creates a new file' }]);
  }
  const sha256 = SHA_TAG.exec(ifMatch?.trim() ?? '')?.[1];
  if (sha256 !== undefined) return sha256;
  throw validationFailed([
    {
      path: 'If-Match',
      message: 'must be the ETag of the content to replace, "sha256"; to create a file, send If-None-Match: * instead',
    },
  ]);
}

/** ETag of the content that a refused change did not expect. */
function currentTag(error: unknown): string | undefined {
  if (!(error instanceof ServiceError) || error.code !== 'CONFLICT') return undefined;
  const current = z.object({ sha256: z.string() }).safeParse(error.details?.['current']);
  return current.success ? `"${current.data.sha256}"` : undefined;
}
