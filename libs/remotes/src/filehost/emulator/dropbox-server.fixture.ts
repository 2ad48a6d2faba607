import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NetworkFaults } from '../../conformance/world.js';
import type { DropboxCredentials } from '../dropbox-api.js';
import { ARGUMENTS, DropboxFiles, type Endpoint, fileOf } from './dropbox-files.fixture.js';
import { DropboxStore, now, Refusal, type StoredFile } from './dropbox-store.fixture.js';

const CHUNK_BYTES = 16_384;
const MOST_BYTES = 150 * 1_048_576;
const TOKEN_SECONDS = 14_400;
const HTTP_NAMES: Readonly<Record<number, string>> = { 429: 'too_many_requests', 503: 'service_unavailable' };

export const CREDENTIALS: DropboxCredentials = {
  appKey: 'key-of-the-app',
  appSecret: 'secret-of-the-app',
  refreshToken: 'refresh-token',
};

class HttpAnswer extends Error {
  constructor(
    readonly status: number,
    readonly body: object | string,
    readonly headers: Record<string, string> = {},
  ) {
    super(`answered with ${status}`);
  }
}

/** The HTTP API of Dropbox over an account in memory, as far as the backend uses it. What it does not know it refuses. */
export class DropboxServer implements NetworkFaults {
  files = new DropboxFiles(new DropboxStore());
  private store = new DropboxStore();
  private tokens = new Set<string>();
  private isDown = false;
  private cutting: { direction: 'up' | 'down'; bytes: number } | null = null;
  private bytesPerSecond = Number.POSITIVE_INFINITY;
  private answers: HttpAnswer[] = [];
  /** Requests that were answered, of whatever kind. */
  requests = 0;

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => void this.serve(request, response));
    this.reset();
  }

  static async start(): Promise<DropboxServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new DropboxServer(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Another empty account, with a folder `/Root`. */
  reset(): void {
    this.store = new DropboxStore();
    this.store.makeFolders('/Root');
    this.files = new DropboxFiles(this.store);
    this.mend();
  }

  plant(path: string, content: string): void {
    const found = this.store.at(path);
    this.store.put(path, Buffer.from(content), now(), found?.id);
  }

  plantFolder(path: string): void {
    this.store.makeFolders(path);
  }

  unplant(path: string): void {
    this.store.delete(path);
  }

  /** As after four hours. */
  expireTokens(): void {
    this.tokens.clear();
  }

  goDown(): void {
    this.isDown = true;
  }

  mend(): void {
    this.isDown = false;
    this.cutting = null;
    this.bytesPerSecond = Number.POSITIVE_INFINITY;
    this.answers = [];
    this.files.refusing = null;
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
    const headers = retryAfterSeconds === undefined ? undefined : { 'retry-after': String(retryAfterSeconds) };
    const reason = HTTP_NAMES[status] ?? 'other';
    const error = { reason: { '.tag': reason }, retry_after: retryAfterSeconds ?? 1 };
    const body = status === 429 ? { error_summary: `${reason}/..`, error } : 'An error of the server';
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
      const planned = this.answers.shift();
      if (planned) throw planned;
      await this.route(request, body, response);
    } catch (error) {
      await this.refuse(error, response);
    }
  }

  private async refuse(error: unknown, response: ServerResponse): Promise<void> {
    if (error instanceof Refusal) return this.send(response, 409, conflictOf(error));
    if (error instanceof HttpAnswer) return this.send(response, error.status, error.body, error.headers);
    response.destroy();
  }

  private async route(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') throw new HttpAnswer(400, 'Only POST is known');
    const path = request.url ?? '';
    if (path === '/oauth2/token') return this.send(response, 200, this.token(new URLSearchParams(body.toString())));
    this.mustBeAuthorized(request);
    const name = path.slice('/2/'.length);
    if (!Object.hasOwn(ARGUMENTS, name)) throw new HttpAnswer(400, `Unknown API function: "${name}"`);
    const { argument, content } = argumentOf(name as Endpoint, request, body);
    const handler = this.files.handlers[name as Endpoint] as (given: unknown, content: Buffer) => object;
    const result = handler(argument, content);
    if (name === 'files/download') return this.download(result as StoredFile, request, response);
    return this.send(response, 200, name === 'files/upload_session/append_v2' ? '' : result);
  }

  private token(form: URLSearchParams): object {
    const expected = {
      grant_type: 'refresh_token',
      refresh_token: CREDENTIALS.refreshToken,
      client_id: CREDENTIALS.appKey,
      client_secret: CREDENTIALS.appSecret,
    };
    const isKnown = Object.entries(expected).every(([name, value]) => form.get(name) === value);
    if (!isKnown) throw new HttpAnswer(400, { error: 'invalid_grant', error_description: 'refresh token is invalid' });
    const token = `sl.${randomBytes(12).toString('base64url')}`;
    this.tokens.add(token);
    return { access_token: token, token_type: 'bearer', expires_in: TOKEN_SECONDS };
  }

  private mustBeAuthorized({ headers }: IncomingMessage): void {
    if (this.tokens.has((headers.authorization ?? '').replace(/^Bearer /, ''))) return;
    const error = { '.tag': 'expired_access_token' };
    throw new HttpAnswer(401, { error_summary: 'expired_access_token/..', error });
  }

  private download(file: StoredFile, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { bytes } = file;
    const headers = { 'dropbox-api-result': asciiOf(fileOf(file)), 'content-type': 'application/octet-stream' };
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    if (!range) return this.send(response, 200, bytes, headers);
    const start = Number(range[1]);
    if (start >= bytes.length) throw new HttpAnswer(416, '', { 'content-range': `bytes */${bytes.length}` });
    const end = Math.min(range[2] ? Number(range[2]) : bytes.length - 1, bytes.length - 1);
    const told = { ...headers, 'content-range': `bytes ${start}-${end}/${bytes.length}` };
    return this.send(response, 206, bytes.subarray(start, end + 1), told);
  }

  private async bodyOf(request: IncomingMessage): Promise<Buffer> {
    if (this.isDown) throw new Error('down');
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of request) {
      await this.pass('up', chunk.length);
      sizeBytes += chunk.length;
      if (sizeBytes > MOST_BYTES) throw new HttpAnswer(413, 'The request is too large');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  private async send(
    response: ServerResponse,
    status: number,
    body: object | string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<void> {
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

/** Endpoints with a content have their argument in a header. */
function argumentOf(
  name: Endpoint,
  { headers }: IncomingMessage,
  body: Buffer,
): { argument: unknown; content: Buffer } {
  const header = headers['dropbox-api-arg'];
  const isContent = name.startsWith('files/upload') || name === 'files/download';
  if (isContent !== (header !== undefined)) throw new HttpAnswer(400, `Wrong place of the argument of ${name}`);
  const parsed = ARGUMENTS[name].safeParse(JSON.parse(isContent ? String(header) : body.toString()));
  if (!parsed.success) throw new HttpAnswer(400, `Error in call to API function "${name}": ${parsed.error.message}`);
  return { argument: parsed.data, content: isContent ? body : Buffer.alloc(0) };
}

function conflictOf({ tags, more }: Refusal): object {
  const { field, ...facts } = { field: undefined, ...more } as { field?: string };
  const build = ([tag = 'other', ...rest]: readonly string[], depth = 0): object => {
    if (rest.length === 0) return { '.tag': tag, ...facts };
    return { '.tag': tag, [depth === 0 ? (field ?? tag) : tag]: build(rest, depth + 1) };
  };
  return { error_summary: `${tags.join('/')}/..`, error: build(tags) };
}

function asciiOf(value: object): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
}
