import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { aheadMsOf, askAgain, type HttpCall, onNetwork } from '../http/network.js';
import { sendPart } from '../http/send-part.js';
import { readXml, type XmlElement } from '../http/xml.js';
import { codeOf, refusalOf } from './s3-failure.js';

export interface ObjstoreConfig {
  /** Without the bucket. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Of all keys, without a slash at its ends. */
  readonly root: string;
  /** Whether the bucket is part of the path instead of the host name. */
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** One request. */
export interface S3Call extends HttpCall {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** A body that may be sent twice, and is not to be copied. */
  readonly part?: Uint8Array;
  /** Statuses that the caller explains itself, beside those of success. */
  readonly accept?: readonly number[];
}

/** Of an answer that is not a content: a page of a listing has 1,000 keys of 1 KiB at most. */
const ANSWER_BYTES = 16 * 1_048_576;

/** Signed requests to one bucket. No redirection is followed. */
export class S3Http {
  private readonly base: URL;
  private readonly signer: SignatureV4;
  /** How far the server's clock is ahead, where it has said that ours is wrong. */
  private aheadMs = 0;

  constructor({ endpoint, region, bucket, pathStyle, accessKeyId, secretAccessKey }: ObjstoreConfig) {
    this.base = new URL(endpoint);
    if (!pathStyle) this.base.hostname = `${bucket}.${this.base.hostname}`;
    const path = this.base.pathname.replace(/\/+$/, '');
    this.base.pathname = pathStyle ? `${path}/${escaped(bucket)}` : path;
    const credentials = { accessKeyId, secretAccessKey };
    this.signer = new SignatureV4({ service: 's3', region, credentials, sha256: NodeSha256, uriEscapePath: false });
  }

  /** @param key null for the bucket itself. @throws RemoteFailure for what is no success and not accepted */
  async send(method: string, key: string | null, call: S3Call): Promise<Response> {
    const isRead = method === 'GET' || method === 'HEAD';
    const once = () => this.once(method, key, call);
    return isRead ? askAgain(call, once) : once();
  }

  /** The answer as XML. A server may tell of a failure after it has answered with success. */
  async xml(method: string, key: string | null, call: S3Call): Promise<XmlElement> {
    return this.xmlOf(await this.send(method, key, call), call);
  }

  async xmlOf(response: Response, call: S3Call): Promise<XmlElement> {
    const text = await textOf(response, call);
    const element = await onNetwork(call, async () => readXml(text));
    if (element.name === 'Error') throw refusalOf(response, codeOf(text), call);
    return element;
  }

  /** For an answer whose body tells nothing. */
  async done(method: string, key: string | null, call: S3Call): Promise<Response> {
    const response = await this.send(method, key, call);
    await response.body?.cancel();
    return response;
  }

  /** As the header of a copy names it. */
  sourceOf(bucket: string, key: string): string {
    return `/${escaped(bucket)}/${pathOf(key)}`;
  }

  private async once(method: string, key: string | null, call: S3Call): Promise<Response> {
    const response = await this.sent(method, key, call);
    if (response.ok || call.accept?.includes(response.status)) return response;
    const code = codeOf(await textOf(response, call));
    const aheadMs = code === 'RequestTimeTooSkewed' ? aheadMsOf(response) : null;
    if (aheadMs === null) throw refusalOf(response, code, call);
    this.aheadMs = aheadMs;
    const again = await this.sent(method, key, call);
    if (again.ok || call.accept?.includes(again.status)) return again;
    throw refusalOf(again, codeOf(await textOf(again, call)), call);
  }

  private async sent(method: string, key: string | null, call: S3Call): Promise<Response> {
    call.signal?.throwIfAborted();
    const { hostname, port, host, protocol, pathname } = this.base;
    const path = key === null ? `${pathname.replace(/\/$/, '')}/` : `${pathname.replace(/\/$/, '')}/${pathOf(key)}`;
    const { body, part, query = {}, signal } = call;
    const request = {
      method,
      protocol,
      hostname,
      ...(port === '' ? {} : { port: Number(port) }),
      path,
      query: { ...query },
      headers: {
        ...call.headers,
        host,
        'x-amz-content-sha256': createHash('sha256')
          .update(part ?? body ?? '')
          .digest('hex'),
      },
    };
    const signingDate = new Date(Date.now() + this.aheadMs);
    const { headers } = await this.signer.sign(request, { signingDate });
    const { host: _host, ...rest } = headers;
    const url = `${protocol}//${host}${path}${queryOf(query)}`;
    if (part) return onNetwork(call, () => sendPart(url, { method, headers: rest, part, signal }));
    const init: RequestInit = {
      method,
      headers: rest,
      // Where a redirection may be answered, a body is kept in case it has to be sent again.
      redirect: 'error',
      ...(signal ? { signal } : {}),
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : viewOf(body) }),
    };
    return onNetwork(call, () => fetch(url, init));
  }
}

function viewOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** Hashes of the signature, by the system's own library. */
class NodeSha256 {
  private readonly hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.hash.digest();
  }

  reset(): void {
    throw new Error('A hash of a signature is used once');
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data) ? viewOf(data) : Buffer.from(data);
}

/** All but what needs no escape in the rules of the signature. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function pathOf(key: string): string {
  return key.split('/').map(escaped).join('/');
}

function queryOf(query: Readonly<Record<string, string>>): string {
  const parts = Object.entries(query).map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

async function textOf(response: Response, call: HttpCall): Promise<string> {
  return onNetwork(call, async () => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > ANSWER_BYTES) throw new Error(`An answer has more than ${ANSWER_BYTES} characters`);
    }
    return text + decoder.decode();
  });
}
