import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type Caller, RawJson, validationFailed } from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { admissionOf } from '../edge/admission.js';
import { callIdOf } from './call-id.js';
import { COMPRESS_FROM_BYTES, chooseEncoding, compress, STREAM_FROM_CHARACTERS, streamOf } from './compression.js';
import { factOf, tagAsked, tagMatched, tagOf, tagOfReading, versionAsked, weakTag } from './conditions.js';
import { OperationCalls } from './operation-calls.js';
import { coerceQuery } from './query-coercion.js';
import type { RoutePlan } from './route-plan.js';

type Input = Record<string, unknown>;
type Query = Readonly<Record<string, string | string[]>>;

const JSON_TYPE = 'application/json; charset=utf-8';
const [OK, NOT_MODIFIED] = [200, 304];

/** Carries one request to its operation and the answer back. The input is validated where the operation is served. */
@Injectable()
export class RestInvoker {
  constructor(@Inject(OperationCalls) private readonly calls: OperationCalls) {}

  async handle(plan: RoutePlan, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { operation } = plan;
    // A change whose caller left may as well have been answered: it is carried out either way.
    const options = operation.readOnly ? { signal: request.signal } : {};
    const input = await this.calls.withIds(inputOf(plan, request), { request, caller: callerOf(request), options });
    // Looking names up takes time, in which the credential may have ended.
    const caller = await admissionOf(request).confirm();
    const callId = callIdOf(request.headers['idempotency-key'], caller, operation.name);
    const result = await this.calls.call(operation, input, { request, caller, callId, options });
    await sendResult(plan, result, reply);
  }
}

/** The caller that the gate let in, as last confirmed. */
export function callerOf(request: FastifyRequest): Caller {
  return admissionOf(request).caller;
}

/** Sends JSON, as text or as its bytes, compressed when the client takes that and it is worth it. */
export async function sendJson(reply: FastifyReply, json: string | Uint8Array): Promise<void> {
  reply.header('content-type', JSON_TYPE);
  const encoding =
    json.length < COMPRESS_FROM_BYTES ? undefined : chooseEncoding(reply.request.headers['accept-encoding']);
  if (encoding) reply.header('content-encoding', encoding);
  const tag = reply.getHeader('etag');
  // That of a change stands for the record, and not for what is told of the change.
  if (encoding && typeof tag === 'string' && reply.request.method === 'GET') reply.header('etag', weakTag(tag));
  if (json.length > STREAM_FROM_CHARACTERS) await reply.send(streamOf(json, encoding));
  else if (encoding) await reply.send(await compress(json, encoding));
  // A text with other characters than Latin ones is much slower to write than its bytes.
  else await reply.send(typeof json === 'string' ? Buffer.from(json) : json);
}

/** Without a length: the server would tell 0 of HEAD, and 304 may tell that of the whole content alone. */
export async function sendNotModified(reply: FastifyReply): Promise<void> {
  await reply.code(NOT_MODIFIED).send(reply.request.method === 'HEAD' ? Readable.from([]) : undefined);
}

async function sendResult(plan: RoutePlan, result: unknown, reply: FastifyReply): Promise<void> {
  const { operation, conditions, status, mayOnlyPreview } = plan;
  const json = result instanceof RawJson ? result.source : JSON.stringify(result);
  const tag = replyTag(plan, result, json);
  if (conditions.takesTag) reply.header('cache-control', 'private, no-cache');
  if (tag !== undefined) {
    const matched = operation.readOnly ? tagMatched(reply.request.headers['if-none-match'], tag) : undefined;
    reply.header('etag', matched ?? tag);
    if (matched !== undefined || factOf(result, ['unchanged']) === true) return sendNotModified(reply);
  }
  const onlyPreviewed = mayOnlyPreview && factOf(result, ['applied']) === false;
  reply.code(onlyPreviewed ? OK : status);
  await sendJson(reply, json);
}

function replyTag(
  { conditions, operation }: RoutePlan,
  result: unknown,
  json: string | Uint8Array,
): string | undefined {
  const tag = conditions.tagPath && tagOf(result, conditions.tagPath);
  return tag && operation.readOnly && !conditions.takesTag ? tagOfReading(tag, json) : tag;
}

function inputOf(plan: RoutePlan, request: FastifyRequest): Input {
  const { takesBody, coercions, conditions, operation } = plan;
  const { headers } = request;
  const query = request.query as Query;
  const input = takesBody ? bodyOf(request.body, query) : coerceQuery(coercions, query);
  if (!takesBody && hasContent(request.body))
    throw validationFailed([
      { path: '', message: `${request.method} takes its input from the query, not from a body.` },
    ]);
  addPath(plan, request.params as Readonly<Record<string, string>>, input);
  if (headers['if-match'] !== undefined) addVersion(plan, headers['if-match'], input);
  const tag =
    conditions.takesTag && headers['if-none-match'] !== undefined ? tagAsked(headers['if-none-match']) : undefined;
  if (tag !== undefined && operation.readOnly) input.if_none_match ??= tag;
  return input;
}

function bodyOf(body: unknown, query: Query): Input {
  const stray = Object.keys(query);
  if (stray.length > 0)
    throw validationFailed(stray.map((path) => ({ path, message: 'must be in the body, not in the query' })));
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw validationFailed([{ path: '', message: 'The body must be a JSON object.' }]);
  return { ...body };
}

function addPath({ pathParameters }: RoutePlan, params: Readonly<Record<string, string>>, input: Input): void {
  for (const name of pathParameters) {
    if (Object.hasOwn(input, name)) throw validationFailed([{ path: name, message: 'is set by the path of the URL' }]);
    input[name] = params[name];
  }
}

function addVersion({ conditions, operation }: RoutePlan, header: string, input: Input): void {
  if (operation.readOnly) return;
  if (!conditions.takesVersion)
    throw validationFailed([{ path: 'If-Match', message: 'This route does not support versions.' }]);
  const version = versionAsked(header);
  if (version === undefined) return;
  if (input.expected_version !== undefined && input.expected_version !== version) {
    throw validationFailed([{ path: 'expected_version', message: 'contradicts the If-Match header' }]);
  }
  input.expected_version = version;
}

function hasContent(body: unknown): boolean {
  return body !== undefined && body !== null && !(typeof body === 'object' && Object.keys(body).length === 0);
}
