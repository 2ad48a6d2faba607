import { randomBytes } from 'node:crypto';
import { contentAnswer, EmulatedServer, HttpAnswer, type Received } from '../../http/emulated-server.fixture.js';
import type { DropboxCredentials } from '../dropbox-api.js';
import { ARGUMENTS, DropboxFiles, type Endpoint, fileOf } from './dropbox-files.fixture.js';
import { DropboxStore, now, Refusal, type StoredFile } from './dropbox-store.fixture.js';

const MOST_BYTES = 150 * 1_048_576;
const TOKEN_SECONDS = 14_400;
const HTTP_NAMES: Readonly<Record<number, string>> = { 429: 'too_many_requests', 503: 'service_unavailable' };

export const CREDENTIALS: DropboxCredentials = {
  appKey: 'key-of-the-app',
  appSecret: 'secret-of-the-app',
  refreshToken: 'refresh-token',
};

/** The HTTP API of Dropbox over an account in memory, as far as the backend uses it. What it does not know it refuses. */
export class DropboxServer extends EmulatedServer {
  files = new DropboxFiles(new DropboxStore());
  private store = new DropboxStore();
  private tokens = new Set<string>();

  static async start(): Promise<DropboxServer> {
    const server = new DropboxServer(MOST_BYTES);
    server.reset();
    return server.listen();
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

  override mend(): void {
    super.mend();
    this.files.refusing = null;
  }

  protected override refusal(status: number, retryAfterSeconds = 1): object | string {
    const reason = HTTP_NAMES[status] ?? 'other';
    if (status !== 429) return 'An error of the server';
    return { error_summary: `${reason}/..`, error: { reason: { '.tag': reason }, retry_after: retryAfterSeconds } };
  }

  protected override answerTo(request: Received): HttpAnswer {
    try {
      return this.route(request);
    } catch (error) {
      if (error instanceof Refusal) return new HttpAnswer(409, conflictOf(error));
      throw error;
    }
  }

  private route(request: Received): HttpAnswer {
    const { method, url, headers, body } = request;
    if (method !== 'POST') throw new HttpAnswer(400, 'Only POST is known');
    if (url.pathname === '/oauth2/token') return new HttpAnswer(200, this.token(new URLSearchParams(body.toString())));
    this.mustBeAuthorized(request);
    const name = url.pathname.slice('/2/'.length);
    if (!Object.hasOwn(ARGUMENTS, name)) throw new HttpAnswer(400, `Unknown API function: "${name}"`);
    const { argument, content } = argumentOf(name as Endpoint, request);
    const handler = this.files.handlers[name as Endpoint] as (given: unknown, content: Buffer) => object;
    const result = handler(argument, content);
    if (name === 'files/download') return downloadOf(result as StoredFile, headers.range);
    return new HttpAnswer(200, name === 'files/upload_session/append_v2' ? '' : result);
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

  private mustBeAuthorized({ headers }: Received): void {
    if (this.tokens.has((headers.authorization ?? '').replace(/^Bearer /, ''))) return;
    const error = { '.tag': 'expired_access_token' };
    throw new HttpAnswer(401, { error_summary: 'expired_access_token/..', error });
  }
}

function downloadOf(file: StoredFile, range: string | undefined): HttpAnswer {
  const headers = { 'dropbox-api-result': asciiOf(fileOf(file)), 'content-type': 'application/octet-stream' };
  return contentAnswer(file.bytes, range, headers);
}

/** Endpoints with a content have their argument in a header. */
function argumentOf(name: Endpoint, { headers, body }: Received): { argument: unknown; content: Buffer } {
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
