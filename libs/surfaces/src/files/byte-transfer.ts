import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { json } from 'node:stream/consumers';
import { type ByteRange, ERRORS, type ErrorBody, ServiceError, type Transfer } from '@workspace-graph/contracts';
import { sweeping } from '@workspace-graph/platform';

/** Between two parts of a content, after which the other side is taken for gone. */
const SILENCE_MS = 600_000;

/** Where the bytes of one content are fetched from, or sent to. */
export interface Way {
  readonly url: string | URL;
  /** Sent as a bearer token. */
  readonly credential: string;
  /** Whether a connection of its own is made for it. */
  readonly isOwn?: boolean;
}

/** To a ticket, on a connection of its own: one that was kept may be closed by a process that stops, in the moment in which it is used again. */
export function wayOf({ url, ticket }: Transfer): Way {
  return { url, credential: ticket, isOwn: true };
}

interface Begun {
  readonly sent: ClientRequest;
  readonly answered: Promise<IncomingMessage>;
}

interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers?: OutgoingHttpHeaders;
  readonly signal?: AbortSignal;
}

/** An answer whose body has not been read yet. @throws ServiceError what is answered; SERVICE_UNAVAILABLE when nobody is there */
export async function fetchContent(
  way: Way,
  { range, signal }: { readonly range?: ByteRange | undefined; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {};
  return answerTo(begin(way, { method: 'GET', headers, signal }), signal);
}

/** The same, of what is asked for with a body of JSON. */
export async function fetchWith(way: Way, body: object, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/json' };
  return answerTo(begin(way, { method: 'POST', headers, signal }), signal, JSON.stringify(body));
}

async function answerTo({ sent, answered }: Begun, signal: AbortSignal, body?: string): Promise<IncomingMessage> {
  sent.end(body);
  try {
    return await accepted(await answered);
  } catch (error) {
    throw signal.aborted ? signal.reason : reasonOf(error);
  }
}

/** The bytes of an answer. @throws ServiceError SERVICE_UNAVAILABLE when they break off */
export async function* bytesOf(answer: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* sweeping(answer as AsyncIterable<Uint8Array>);
  } catch (error) {
    throw signal.aborted ? signal.reason : reasonOf(error);
  }
}

/** @throws ServiceError what is answered; SERVICE_UNAVAILABLE when the other side is gone */
export async function* download(
  way: Way,
  { range, signal }: { readonly range: ByteRange | undefined; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  yield* bytesOf(await fetchContent(way, { range, signal }), signal);
}

/** Asks without a body. @returns what is answered @throws ServiceError as `upload` */
export async function askFor(way: Way, signal: AbortSignal): Promise<unknown> {
  const { sent, answered } = begin(way, { method: 'POST', signal });
  sent.end();
  try {
    return await json(await accepted(await answered));
  } catch (error) {
    throw reasonOf(error);
  }
}

/** Sends a content. What it throws ends the transfer, and nothing is stored. @returns what is answered */
export async function upload(
  way: Way,
  bytes: AsyncIterable<Uint8Array>,
  options: Pick<Asked, 'headers' | 'signal'> = {},
): Promise<unknown> {
  const { sent, answered } = begin(way, { ...options, method: 'PUT' });
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
    for await (const chunk of sweeping(bytes)) {
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

function begin({ url, credential, isOwn = false }: Way, { headers = {}, ...options }: Asked): Begun {
  const request = new URL(url).protocol === 'https:' ? secure : plain;
  const all = { ...headers, authorization: `Bearer ${credential}` };
  const sent = request(url, { ...options, headers: all, ...(isOwn ? { agent: false } : {}) });
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  answered.catch(() => undefined);
  sent.once('response', (response) => {
    // One that nobody reads to its end breaks off unheard; whoever reads it is told by its iterator.
    response.on('error', () => undefined);
    resolve(response);
  });
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
