import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NetworkFaults } from '../conformance/world.js';

const CHUNK_BYTES = 16_384;

/** A request that arrived whole. */
export interface Received {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An answer, returned or thrown. */
export class HttpAnswer extends Error {
  constructor(
    readonly status: number,
    readonly body: object | string | Buffer,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(`answered with ${status}`);
  }
}

/** An HTTP service in this process, with the faults of its network. Whatever else is thrown breaks the connection off. */
export abstract class EmulatedServer implements NetworkFaults {
  private readonly server: Server = createServer();
  private isDown = false;
  private cutting: { direction: 'up' | 'down'; bytes: number } | null = null;
  private bytesPerSecond = Number.POSITIVE_INFINITY;
  private answers: HttpAnswer[] = [];
  private losing = 0;
  private meanwhile: { readonly isIt: (request: Received) => boolean; readonly work: () => void } | null = null;
  /** Requests that were answered, of whatever kind. */
  requests = 0;

  constructor(private readonly mostBytes: number) {
    this.server.on('request', (request, response) => void this.serve(request, response));
  }

  protected abstract answerTo(request: Received): HttpAnswer | Promise<HttpAnswer>;
  /** What the service says beside a status that is none of a success. */
  protected abstract refusal(status: number, retryAfterSeconds: number | undefined): object | string;

  async listen(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  goDown(): void {
    this.isDown = true;
  }

  mend(): void {
    this.isDown = false;
    this.cutting = null;
    this.bytesPerSecond = Number.POSITIVE_INFINITY;
    this.answers = [];
    this.losing = 0;
    this.meanwhile = null;
  }

  /** Carries the next requests out, and breaks off instead of answering. */
  lose(requests: number): void {
    this.losing = requests;
  }

  /** Does something once, just before the first request of this kind is carried out. */
  before(isIt: (request: Received) => boolean, work: () => void): void {
    this.meanwhile = { isIt, work };
  }

  async cut(after: { readonly direction: 'up' | 'down'; readonly bytes: number }): Promise<void> {
    this.cutting = { ...after };
  }

  async slow(bytesPerSecond: number): Promise<void> {
    this.bytesPerSecond = bytesPerSecond;
  }

  async answer(
    status: number,
    { requests, retryAfterSeconds }: { readonly requests: number; readonly retryAfterSeconds?: number },
  ): Promise<void> {
    const headers: Record<string, string> =
      retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    const body = this.refusal(status, retryAfterSeconds);
    this.answers = Array.from({ length: requests }, () => new HttpAnswer(status, body, headers));
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await this.bodyOf(request);
      this.requests += 1;
      const { method = '', url = '', headers } = request;
      const planned = this.answers.shift();
      const received = { method, url: new URL(url, this.origin), headers, body };
      await this.send(response, planned ?? (await this.carriedOut(received)));
    } catch (error) {
      if (error instanceof HttpAnswer) await this.send(response, error);
      else response.destroy();
    }
  }

  private async carriedOut(request: Received): Promise<HttpAnswer> {
    const { meanwhile } = this;
    if (meanwhile?.isIt(request)) {
      this.meanwhile = null;
      meanwhile.work();
    }
    const answer = await this.answerTo(request);
    this.losing -= 1;
    if (this.losing >= 0) throw new Error('lost');
    return answer;
  }

  private async bodyOf(request: IncomingMessage): Promise<Buffer> {
    if (this.isDown) throw new Error('down');
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of request) {
      await this.pass('up', chunk.length);
      sizeBytes += chunk.length;
      if (sizeBytes > this.mostBytes) throw new HttpAnswer(413, 'The request is too large');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  private async send(response: ServerResponse, { status, body, headers }: HttpAnswer): Promise<void> {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
    try {
      for (let start = 0; start < bytes.length && !response.destroyed; start += CHUNK_BYTES) {
        const chunk = bytes.subarray(start, start + CHUNK_BYTES);
        await this.pass('down', chunk.length);
        await new Promise((written) => response.write(chunk, written));
      }
      response.end();
    } catch {
      // Cut, or the reader went away.
      response.destroy();
    }
  }

  /** @throws when the connection is to be cut */
  private async pass(direction: 'up' | 'down', bytes: number): Promise<void> {
    if (Number.isFinite(this.bytesPerSecond)) await sleep((bytes / this.bytesPerSecond) * 1_000);
    if (this.cutting?.direction !== direction) return;
    this.cutting.bytes -= bytes;
    if (this.cutting.bytes < 0) throw new Error('cut');
  }
}

/** A content, or the part of it that a range asks for. */
export function contentAnswer(bytes: Buffer, range: string | undefined, headers: Record<string, string>): HttpAnswer {
  const found = /^bytes=(\d+)-(\d*)$/.exec(range ?? '');
  if (!found) return new HttpAnswer(200, bytes, headers);
  const start = Number(found[1]);
  if (start >= bytes.length) return new HttpAnswer(416, '', { 'content-range': `bytes */${bytes.length}` });
  const end = Math.min(found[2] ? Number(found[2]) : bytes.length - 1, bytes.length - 1);
  const told = { ...headers, 'content-range': `bytes ${start}-${end}/${bytes.length}` };
  return new HttpAnswer(206, bytes.subarray(start, end + 1), told);
}
