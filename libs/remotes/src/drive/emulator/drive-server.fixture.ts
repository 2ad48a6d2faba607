import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { decodeJwt, jwtVerify } from 'jose';
import { z } from 'zod';
import { contentAnswer, EmulatedServer, HttpAnswer, type Received } from '../../http/emulated-server.fixture.js';
import type { DriveOrigins } from '../drive-api.js';
import type { ServiceAccount } from '../service-account.js';
import { DriveStore, FOLDER, type Metadata, type Node, resourceOf } from './drive-store.fixture.js';

const MOST_BYTES = 150 * 1_048_576;
const PAGE = 700;
/** Of each part of an upload but the last. */
const UNIT_BYTES = 262_144;
const REASONABLE_MS = 300_000;
const MOST_EXPORTED_BYTES = 10 * 1_048_576;

const metadata = z.strictObject({
  name: z.string().min(1).optional(),
  mimeType: z.string().optional(),
  parents: z.array(z.string()).length(1).optional(),
  modifiedTime: z.iso.datetime().optional(),
  trashed: z.boolean().optional(),
});
const fields = z.string().min(1);
const onFile = { fields, supportsAllDrives: z.literal('true') };
const QUERIES = {
  file: z.strictObject(onFile),
  change: z.strictObject({ ...onFile, addParents: z.string().optional(), removeParents: z.string().optional() }),
  list: z.strictObject({
    ...onFile,
    q: z.string().min(1),
    corpora: z.literal('drive'),
    driveId: z.string(),
    includeItemsFromAllDrives: z.literal('true'),
    pageSize: z.coerce.number().int().min(1).max(1_000),
    pageToken: z.string().optional(),
  }),
  upload: z.strictObject({
    ...onFile,
    uploadType: z.enum(['multipart', 'resumable']),
    upload_id: z.string().optional(),
  }),
  media: z.strictObject({ alt: z.literal('media') }),
  export: z.strictObject({ mimeType: z.string() }),
};

interface Session {
  readonly id: string | null;
  readonly metadata: Metadata;
  bytes: Buffer;
  made: Node | null;
}

/** Of a service account that there is; the key is made anew for each run. */
const KEYS = generateKeyPairSync('rsa', { modulusLength: 2_048 });
export const ACCOUNT: ServiceAccount = {
  email: 'sync@project.iam.gserviceaccount.com',
  privateKey: KEYS.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  keyId: 'key-of-the-account',
};

/** The HTTP API of Google Drive over one shared drive in memory, as far as the backend uses it. What it does not know it refuses. */
export class DriveServer extends EmulatedServer {
  store = new DriveStore();
  rootId = '';
  private tokens = new Set<string>();
  private sessions = new Map<string, Session>();
  private pages = new Map<string, readonly Node[]>();
  /** What every change is refused with. */
  refusing: 'insufficientFilePermissions' | 'storageQuotaExceeded' | 'userRateLimitExceeded' | null = null;
  /** Whether searches say that they have looked at a part only. */
  isIncomplete = false;
  clockAheadMs = 0;
  /** How many bytes of each part of an upload are taken at most. */
  takesBytes = Number.POSITIVE_INFINITY;

  static async start(): Promise<DriveServer> {
    const server = new DriveServer(MOST_BYTES);
    server.reset();
    return server.listen();
  }

  get origins(): DriveOrigins {
    return { api: this.origin, token: `${this.origin}/token` };
  }

  /** Another drive, with a folder that is the root. */
  reset(): void {
    this.store = new DriveStore();
    this.rootId = this.store.plantFolder(this.store.driveId, 'Root').id;
    this.sessions.clear();
    this.mend();
  }

  /** As after an hour. */
  expireTokens(): void {
    this.tokens.clear();
  }

  /** How many contents are on their way. */
  get unfinished(): number {
    return [...this.sessions.values()].filter(({ made }) => made === null).length;
  }

  override mend(): void {
    super.mend();
    this.refusing = null;
    this.isIncomplete = false;
    this.clockAheadMs = 0;
    this.takesBytes = Number.POSITIVE_INFINITY;
    this.store.releaseIndex();
  }

  protected override refusal(status: number): object | string {
    return status === 429 ? errorOf(429, 'rateLimitExceeded', 'Rate Limit Exceeded') : 'An error of the server';
  }

  protected override answerTo(request: Received): HttpAnswer | Promise<HttpAnswer> {
    const { method, url } = request;
    if (method === 'POST' && url.pathname === '/token') return this.token(request);
    if (!this.tokens.has((request.headers.authorization ?? '').replace(/^Bearer /, '')))
      throw refused(401, 'authError', 'Invalid Credentials');
    const parts = url.pathname.split('/').map(decodeURIComponent);
    if (url.pathname.startsWith('/upload/drive/v3/files')) return this.upload(request, parts[5]);
    if (!url.pathname.startsWith('/drive/v3/files')) throw refused(404, 'notFound', 'Not Found');
    const [, , , , id, verb, revision] = parts;
    return this.files(request, { id, verb, revision });
  }

  private files(
    request: Received,
    { id, verb, revision }: Readonly<Record<'id' | 'verb' | 'revision', string | undefined>>,
  ): HttpAnswer {
    const { method, url } = request;
    const called = `${method} ${id === undefined ? '' : ':id'} ${verb ?? ''}`.trimEnd();
    switch (called) {
      case 'GET':
        return this.list(queryOf(QUERIES.list, url));
      case 'POST':
        return this.create(request);
      case 'GET :id':
        return this.told(this.seen(id), queryOf(QUERIES.file, url).fields);
      case 'PATCH :id':
        return this.change(request, id);
      case 'POST :id copy':
        return this.copy(request, id);
      case 'GET :id export':
        return this.exported(this.seen(id), queryOf(QUERIES.export, url).mimeType);
      case 'GET :id revisions':
        queryOf(QUERIES.media, url);
        return this.content(this.seen(id), revision, request.headers.range);
      default:
        throw refused(404, 'notFound', `Unknown call ${called}`);
    }
  }

  private async token({ body }: Received): Promise<HttpAnswer> {
    const form = new URLSearchParams(body.toString());
    const now = Date.now() + this.clockAheadMs;
    const date = { date: new Date(now).toUTCString() };
    const assertion = form.get('assertion') ?? '';
    const invalid = (description: string): HttpAnswer =>
      new HttpAnswer(400, { error: 'invalid_grant', error_description: description }, date);
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return invalid('Unknown grant');
    try {
      const { iat = 0, exp = 0, scope } = decodeJwt<{ scope?: string }>(assertion);
      if (Math.abs(iat * 1_000 - now) > REASONABLE_MS || exp - iat > 3_600)
        return invalid('Token must be short-lived and in a reasonable timeframe');
      const key: KeyObject = KEYS.publicKey;
      const rules = { issuer: ACCOUNT.email, audience: 'https://oauth2.googleapis.com/token' };
      await jwtVerify(assertion, key, { ...rules, currentDate: new Date(now), algorithms: ['RS256'] });
      if (scope !== 'https://www.googleapis.com/auth/drive') return invalid('Unknown scope');
    } catch {
      return invalid('Invalid JWT Signature');
    }
    const token = `ya29.${randomBytes(12).toString('base64url')}`;
    this.tokens.add(token);
    return new HttpAnswer(200, { access_token: token, token_type: 'Bearer', expires_in: 3_599 }, date);
  }

  private list({ q, driveId, pageSize, pageToken, fields: mask }: z.output<typeof QUERIES.list>): HttpAnswer {
    if (driveId !== this.store.driveId) throw refused(404, 'notFound', `Shared drive not found: ${driveId}`);
    const found = pageToken === undefined ? this.searched(q) : this.pages.get(pageToken);
    if (!found) throw refused(400, 'invalid', 'Invalid Value');
    const count = Math.min(pageSize, PAGE);
    const page: Record<string, unknown> = {
      kind: 'drive#fileList',
      incompleteSearch: this.isIncomplete,
      files: found.slice(0, count).map((node) => resourceOf(this.store, node)),
    };
    if (found.length > count) {
      page['nextPageToken'] = `~!!~${randomBytes(9).toString('base64url')}`;
      // What lies at the seam of two pages may be told on both.
      this.pages.set(String(page['nextPageToken']), found.slice(count - 1));
    }
    return new HttpAnswer(200, masked(page, mask) as object);
  }

  private searched(q: string): Node[] {
    for (const [, folder = ''] of q.matchAll(/'([^']*)' in parents/g))
      if (!this.store.at(folder)) throw refused(404, 'notFound', 'File not found: .');
    try {
      return this.store.search(q);
    } catch (error) {
      throw refused(400, 'invalid', String(error));
    }
  }

  private create(request: Received): HttpAnswer {
    const told = metadataOf(request.body);
    const { fields: mask } = queryOf(QUERIES.file, request.url);
    this.mayChange('metadata');
    if (told.mimeType !== FOLDER) throw refused(400, 'invalid', 'Only folders are made without a content');
    return this.told(this.store.create({ ...told, parents: [this.folderOf(told)] }, null), mask);
  }

  private change({ body, url }: Received, id: string | undefined): HttpAnswer {
    const { fields: mask, addParents, removeParents } = queryOf(QUERIES.change, url);
    const told = metadataOf(body);
    if (told.parents) throw refused(403, 'fieldNotWritable', 'parents is not writable here');
    const node = this.seen(id);
    this.mayChange('metadata');
    if ((addParents === undefined) !== (removeParents === undefined))
      throw refused(403, 'teamDrivesParentLimit', 'A shared drive item must have exactly one parent');
    if (addParents !== undefined) {
      if (removeParents !== node.parents[0]) throw refused(404, 'notFound', `File not found: ${removeParents}`);
      node.parents = [this.folderOf({ parents: [addParents] })];
    }
    this.store.change(node, told, null);
    return this.told(node, mask);
  }

  private copy({ body, url }: Received, id: string | undefined): HttpAnswer {
    const { fields: mask } = queryOf(QUERIES.file, url);
    const node = this.seen(id);
    const told = metadataOf(body);
    this.mayChange('content');
    const bytes = node.revisions.at(-1)?.bytes;
    if (!bytes) throw refused(403, 'cannotCopyFile', 'This file cannot be copied by the user');
    return this.told(this.store.create({ ...told, parents: [this.folderOf(told)] }, bytes), mask);
  }

  private content(node: Node, revision: string | undefined, range: string | undefined): HttpAnswer {
    if (node.mimeType.startsWith('application/vnd.google-apps.'))
      throw refused(403, 'fileNotDownloadable', 'Only files with binary content can be downloaded');
    const found = node.revisions.find(({ id }) => id === revision);
    if (!found) throw refused(404, 'notFound', `Revision not found: ${revision}`);
    return contentAnswer(found.bytes, range, { 'content-type': 'application/octet-stream' });
  }

  private exported(node: Node, mimeType: string): HttpAnswer {
    const bytes = node.revisions.at(-1)?.bytes ?? Buffer.alloc(0);
    const kind = node.mimeType.replace('application/vnd.google-apps.', '');
    if (!['document', 'spreadsheet', 'presentation', 'drawing'].includes(kind))
      throw refused(403, 'fileNotExportable', 'Export only supports Docs Editors files');
    if (kind !== 'document' && mimeType !== 'application/pdf')
      throw refused(400, 'badRequest', 'The requested conversion is not supported.');
    if (bytes.length > MOST_EXPORTED_BYTES) throw refused(403, 'exportSizeLimitExceeded', 'This file is too large');
    return new HttpAnswer(200, Buffer.concat([Buffer.from(`${mimeType}: `), bytes]), { 'content-type': mimeType });
  }

  private upload(request: Received, id: string | undefined): HttpAnswer {
    const { method, url, headers, body } = request;
    const { fields: mask, uploadType, upload_id: uploadId } = queryOf(QUERIES.upload, url);
    if (uploadId !== undefined) return this.session(request, uploadId, mask);
    if (method !== (id === undefined ? 'POST' : 'PATCH')) throw refused(404, 'notFound', 'Not Found');
    this.mayChange('content');
    if (uploadType === 'multipart') {
      const { told, bytes } = relatedOf(headers['content-type'] ?? '', body);
      return this.told(this.stored(id ?? null, told, bytes), mask);
    }
    const name = randomBytes(18).toString('base64url');
    this.sessions.set(name, { id: id ?? null, metadata: metadataOf(body), bytes: Buffer.alloc(0), made: null });
    url.searchParams.set('upload_id', name);
    return new HttpAnswer(200, '', { location: url.href });
  }

  private session({ method, headers, body }: Received, name: string, mask: string): HttpAnswer {
    const session = this.sessions.get(name);
    if (!session) throw refused(404, 'notFound', 'Not Found');
    if (method === 'DELETE') {
      this.sessions.delete(name);
      return new HttpAnswer(499, '');
    }
    if (session.made) return this.told(session.made, mask);
    const [, start, end, total] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
    if (total === undefined) throw refused(400, 'badRequest', 'Failed to parse Content-Range header.');
    if (start !== undefined) this.take(session, { start: Number(start), end: Number(end), total }, body);
    if (Number(total) !== session.bytes.length)
      return new HttpAnswer(
        308,
        '',
        session.bytes.length === 0 ? {} : { range: `bytes=0-${session.bytes.length - 1}` },
      );
    this.mayChange('content');
    session.made = this.stored(session.id, session.metadata, session.bytes);
    return this.told(session.made, mask);
  }

  private take(
    session: Session,
    { start, end, total }: { readonly start: number; readonly end: number; readonly total: string },
    body: Buffer,
  ): void {
    const isLast = total !== '*' && Number(total) === end + 1;
    const isWhole = isLast || (end + 1) % UNIT_BYTES === 0;
    if (start !== session.bytes.length || end - start + 1 !== body.length || !isWhole)
      throw refused(400, 'badRequest', 'Invalid request.');
    session.bytes = Buffer.concat([session.bytes, body.subarray(0, this.takesBytes)]);
  }

  private stored(id: string | null, told: Metadata, bytes: Buffer): Node {
    if (id === null) return this.store.create({ ...told, parents: [this.folderOf(told)] }, bytes);
    if (told.parents) throw refused(403, 'fieldNotWritable', 'parents is not writable here');
    const node = this.seen(id);
    this.store.change(node, told, bytes);
    return node;
  }

  private folderOf({ parents = [] }: Metadata): string {
    const [id = this.store.driveId] = parents;
    const folder = this.seen(id);
    if (folder.mimeType !== FOLDER || this.store.isTrashed(folder))
      throw refused(403, 'cannotAddParent', 'Not a folder');
    return id;
  }

  private seen(id: string | undefined): Node {
    const node = this.store.at(id ?? '');
    if (!node) throw refused(404, 'notFound', `File not found: ${id}.`);
    return node;
  }

  private mayChange(what: 'metadata' | 'content'): void {
    if (this.refusing === null || (this.refusing === 'storageQuotaExceeded' && what === 'metadata')) return;
    throw refused(403, this.refusing, 'Refused');
  }

  private told(node: Node, mask: string): HttpAnswer {
    return new HttpAnswer(200, masked(resourceOf(this.store, node), mask) as object);
  }
}

function refused(status: number, reason: string, message: string): HttpAnswer {
  return new HttpAnswer(status, errorOf(status, reason, message));
}

function errorOf(code: number, reason: string, message: string): object {
  return { error: { code, message, errors: [{ domain: 'global', reason, message }] } };
}

function queryOf<T extends z.ZodType>(schema: T, url: URL): z.output<T> {
  const parsed = schema.safeParse(Object.fromEntries(url.searchParams));
  if (!parsed.success) throw refused(400, 'invalidParameter', parsed.error.message);
  return parsed.data;
}

function metadataOf(body: Buffer): Metadata {
  const parsed = metadata.safeParse(JSON.parse(body.toString()));
  if (!parsed.success) throw refused(400, 'invalid', parsed.error.message);
  return parsed.data;
}

/** The two parts of `multipart/related`. */
function relatedOf(type: string, body: Buffer): { told: Metadata; bytes: Buffer } {
  const boundary = /^multipart\/related; boundary=(\S+)$/.exec(type)?.[1];
  if (boundary === undefined) throw refused(400, 'badContent', 'Bad content type');
  const mark = Buffer.from(`--${boundary}`);
  const second = body.indexOf(mark, mark.length);
  const end = body.lastIndexOf(mark);
  const contentOf = (part: Buffer): Buffer => part.subarray(part.indexOf('\r\n\r\n') + 4, part.length - 2);
  if (second < 0 || end <= second) throw refused(400, 'parseError', 'Malformed multipart body.');
  return { told: metadataOf(contentOf(body.subarray(0, second))), bytes: contentOf(body.subarray(second, end)) };
}

/** Leaves out what `fields` does not name: names, each with those inside in parentheses. */
function masked(value: unknown, mask: string): unknown {
  if (Array.isArray(value)) return value.map((each) => masked(each, mask));
  const told = Object(value) as Record<string, unknown>;
  const found: Record<string, unknown> = {};
  for (const [, name = '', inner] of mask.matchAll(/([a-zA-Z0-9]+)(?:\(([^)]*)\))?/g))
    if (name in told) found[name] = inner === undefined ? told[name] : masked(told[name], inner);
  return found;
}
