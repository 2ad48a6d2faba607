import { randomUUID } from 'node:crypto';
import { Bearer } from '../http/bearer.js';
import { jsonOf } from '../http/json.js';
import { askAgain, type HttpCall, onNetwork } from '../http/network.js';
import { RemoteFailure } from '../port/index.js';
import { driveFailureOf } from './drive-failure.js';
import { type DriveFile, driveFile, driveFiles, FILE_FIELDS } from './drive-file.js';
import { accessTokenOf, type ServiceAccount } from './service-account.js';

/** Where the services of Google are reached. */
export interface DriveOrigins {
  readonly api: string;
  readonly token: string;
}

export const GOOGLE: DriveOrigins = {
  api: 'https://www.googleapis.com',
  token: 'https://oauth2.googleapis.com/token',
};

/** Of files and folders, as far as the remote changes them. */
export interface DriveMetadata {
  readonly name?: string;
  readonly mimeType?: string;
  readonly parents?: readonly string[];
  readonly modifiedTime?: string;
  readonly trashed?: boolean;
}

/** A content that is made, or that replaces the one of a file. */
export interface DriveUpload {
  /** Null for a new file. */
  readonly id: string | null;
  readonly metadata: DriveMetadata;
}

interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Statuses that the caller explains itself, beside those of success. */
  readonly accept?: readonly number[];
}

type Query = Readonly<Record<string, string>>;

const FILES = '/drive/v3/files';
const PAGE = '1000';
const OCTETS = 'application/octet-stream';

/**
 * Calls of one shared drive over plain HTTP: uploads in parts are ours to do with the client library, too, and a second way
 * beside it would be one too many.
 */
export class DriveApi {
  private readonly bearer: Bearer;

  constructor(
    private readonly driveId: string,
    account: ServiceAccount,
    private readonly origins: DriveOrigins,
  ) {
    this.bearer = new Bearer((call) => accessTokenOf(account, origins.token, call));
  }

  /** Null where there is no such file, or none that the account may see. */
  async file(id: string, call: HttpCall): Promise<DriveFile | null> {
    try {
      const url = this.url(`${FILES}/${encodeURIComponent(id)}`, { fields: FILE_FIELDS, supportsAllDrives: 'true' });
      return driveFile.parse(await this.read({ method: 'GET', url }, call));
    } catch (error) {
      if (error instanceof RemoteFailure && error.reason === 'not_found') return null;
      throw error;
    }
  }

  /** All that a search finds in the drive, each once. @throws RemoteFailure `unavailable` for a part of it */
  async search(terms: string, call: HttpCall): Promise<DriveFile[]> {
    const found = new Map<string, DriveFile>();
    for await (const page of this.pages(terms, {}, call)) for (const file of page) found.set(file.id, file);
    return [...found.values()];
  }

  /** @param more `orderBy` and `pageSize` of Drive */
  async *pages(terms: string, more: Query, call: HttpCall): AsyncGenerator<readonly DriveFile[]> {
    const query = {
      q: terms,
      corpora: 'drive',
      driveId: this.driveId,
      includeItemsFromAllDrives: 'true',
      supportsAllDrives: 'true',
      pageSize: PAGE,
      fields: `nextPageToken,incompleteSearch,files(${FILE_FIELDS})`,
      ...more,
    };
    for (let token: string | undefined = ''; token !== undefined; ) {
      const url = this.url(FILES, { ...query, ...(token === '' ? {} : { pageToken: token }) });
      const page = driveFiles.parse(await this.read({ method: 'GET', url }, call));
      if (page.incompleteSearch) {
        const cause = new Error('Google Drive has looked at a part of the drive only');
        throw new RemoteFailure('unavailable', { path: call.path }, { cause });
      }
      yield page.files;
      token = page.nextPageToken;
    }
  }

  /** @param query `addParents` and `removeParents` of Drive */
  update(id: string, metadata: DriveMetadata, call: HttpCall, query: Query = {}): Promise<DriveFile> {
    return this.changed('PATCH', `${FILES}/${encodeURIComponent(id)}`, { metadata, query }, call);
  }

  makeFolder(metadata: DriveMetadata, call: HttpCall): Promise<DriveFile> {
    return this.changed('POST', FILES, { metadata, query: {} }, call);
  }

  copy(id: string, metadata: DriveMetadata, call: HttpCall): Promise<DriveFile> {
    return this.changed('POST', `${FILES}/${encodeURIComponent(id)}/copy`, { metadata, query: {} }, call);
  }

  /** Sends a short content and what is told of it in one request. */
  async put({ id, metadata }: DriveUpload, content: Uint8Array, call: HttpCall): Promise<DriveFile> {
    const boundary = randomUUID();
    const head = `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(metadata)}\r\n--${boundary}\r\ncontent-type: ${OCTETS}\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]);
    const headers = { 'content-type': `multipart/related; boundary=${boundary}` };
    const { method, url } = this.uploadTo(id, 'multipart');
    return driveFile.parse(await jsonOf(await this.send({ method, url, headers, body }, call), call));
  }

  /** @returns where the parts of a long content go; whoever knows it may send them, for a week */
  async begin({ id, metadata }: DriveUpload, call: HttpCall): Promise<URL> {
    const headers = { 'content-type': 'application/json; charset=UTF-8', 'x-upload-content-type': OCTETS };
    const request = { ...this.uploadTo(id, 'resumable'), headers, body: JSON.stringify(metadata) };
    const response = await this.send(request, call);
    await response.body?.cancel();
    const location = response.headers.get('location') ?? '';
    const url = URL.canParse(location) ? new URL(location) : null;
    if (url?.origin !== new URL(this.origins.api).origin)
      throw new Error('Google Drive answered no place to upload to');
    return url;
  }

  /** Sends bytes to where an upload goes on, or none to ask; 308 means that more are awaited. */
  part(url: URL, range: string, content: Uint8Array, call: HttpCall): Promise<Response> {
    const headers = { 'content-range': range };
    return this.send({ method: 'PUT', url, headers, body: content, accept: [308] }, call);
  }

  /** What was sent is forgotten; Drive answers that with 499. */
  async abandon(url: URL, call: HttpCall): Promise<void> {
    const response = await this.send({ method: 'DELETE', url, accept: [404, 410, 499] }, call);
    await response.body?.cancel();
  }

  /** The bytes of one revision, with the body unread. */
  content({ id, revision }: { id: string; revision: string }, range: string | undefined, call: HttpCall) {
    const path = `${FILES}/${encodeURIComponent(id)}/revisions/${encodeURIComponent(revision)}`;
    const url = this.url(path, { alt: 'media' });
    const request: Request = { method: 'GET', url, ...(range === undefined ? {} : { headers: { range } }) };
    return askAgain(call, () => this.send(request, call));
  }

  /** A document in another format, with the body unread. */
  exported(id: string, mimeType: string, call: HttpCall): Promise<Response> {
    const url = this.url(`${FILES}/${encodeURIComponent(id)}/export`, { mimeType });
    return askAgain(call, () => this.send({ method: 'GET', url }, call));
  }

  private async changed(
    method: 'POST' | 'PATCH',
    path: string,
    { metadata, query }: { readonly metadata: DriveMetadata; readonly query: Query },
    call: HttpCall,
  ): Promise<DriveFile> {
    const url = this.url(path, { fields: FILE_FIELDS, supportsAllDrives: 'true', ...query });
    const headers = { 'content-type': 'application/json; charset=UTF-8' };
    const response = await this.send({ method, url, headers, body: JSON.stringify(metadata) }, call);
    return driveFile.parse(await jsonOf(response, call));
  }

  private uploadTo(id: string | null, uploadType: string): Pick<Request, 'method' | 'url'> {
    const path = id === null ? `/upload${FILES}` : `/upload${FILES}/${encodeURIComponent(id)}`;
    const url = this.url(path, { uploadType, fields: FILE_FIELDS, supportsAllDrives: 'true' });
    return { method: id === null ? 'POST' : 'PATCH', url };
  }

  private read(request: Request, call: HttpCall): Promise<unknown> {
    return askAgain(call, async () => jsonOf(await this.send(request, call), call));
  }

  private async send({ accept = [], ...request }: Request, call: HttpCall): Promise<Response> {
    const response = await this.authorized(request, call);
    if (response.ok || accept.includes(response.status)) return response;
    throw driveFailureOf(response, await onNetwork(call, () => response.text()), call);
  }

  private authorized({ method, url, headers, body }: Request, call: HttpCall): Promise<Response> {
    const init: RequestInit = {
      method,
      signal: call.signal ?? null,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : Buffer.from(body) }),
      // Never followed; an upload that goes on is answered with a status that stands for a redirection elsewhere.
      redirect: 'manual',
    };
    return this.bearer.send(call, (authorization) =>
      onNetwork(call, () => fetch(url, { ...init, headers: { ...headers, authorization } })),
    );
  }

  private url(path: string, query: Query): URL {
    const url = new URL(path, this.origins.api);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }
}

/** A text in the query language of Drive. */
export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
