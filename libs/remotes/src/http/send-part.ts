import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as plain,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as secure } from 'node:https';
import { buffer } from 'node:stream/consumers';

/** Without a byte from the other side, after which it is taken for gone; as `fetch` has it. */
const SILENCE_MS = 300_000;
const PLAIN = { start: plain, agent: new HttpAgent({ keepAlive: true }) };
const SECURE = { start: secure, agent: new HttpsAgent({ keepAlive: true }) };

/** A request with a part of a content, which does the same if it is sent twice. */
export interface PartRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly part: Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a part as it lies in memory; `fetch` would copy it first. No redirection is followed, and what is answered is read whole.
 * @throws whatever goes wrong on the way; the reason of the signal
 */
export async function sendPart(url: string, request: PartRequest): Promise<Response> {
  const { start, agent } = url.startsWith('https:') ? SECURE : PLAIN;
  try {
    return await sendOnce(start(url, optionsOf(request, agent)), request.part);
  } catch (error) {
    request.signal?.throwIfAborted();
    if (!(error instanceof GivenUp)) throw error;
    // On a connection of its own: others that were kept may be given up as well.
    return await sendOnce(start(url, optionsOf(request, false)), request.part);
  }
}

function optionsOf({ method, headers, part, signal }: PartRequest, agent: RequestOptions['agent']): RequestOptions {
  const all = { ...headers, 'content-length': part.byteLength };
  return { method, headers: all, agent, ...(signal ? { signal } : {}) };
}

/** The server gave up a connection that was kept, in the moment in which it was used again. */
class GivenUp extends Error {}

async function sendOnce(sent: ClientRequest, part: Uint8Array): Promise<Response> {
  sent.setTimeout(SILENCE_MS, () => sent.destroy(new Error(`Nothing was heard for ${SILENCE_MS} ms`)));
  const answered = answerTo(sent);
  sent.end(part);
  const answer = await answered;
  const body = await buffer(answer);
  const status = answer.statusCode ?? 0;
  if (status >= 300 && status < 400) throw new Error(`The server answered ${status}, which leads elsewhere`);
  const given = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Response(body.byteLength === 0 ? null : new Uint8Array(body), { status, headers: given });
}

/** @throws GivenUp, and whatever else goes wrong before the answer begins */
function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  sent.once('response', resolve);
  sent.on('error', (error: NodeJS.ErrnoException) => {
    const isGivenUp = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
    reject(isGivenUp ? new GivenUp(error.message, { cause: error }) : error);
  });
  return promise;
}
