import { askAgain, busy, type HttpCall, onNetwork } from '../http/network.js';
import { NotedStream, RemoteFailure } from '../port/index.js';
import { type DavResource, readMultistatus } from './multistatus.js';

export interface DavConfig {
  /** Of the folder that is the root of the remote, without a slash at its end. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/** A path as the server spells it: names from the root on. */
export type DavPath = readonly string[];

/** One request. */
export interface DavCall extends HttpCall {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** Statuses that the caller explains itself, beside those of success. */
  readonly accept?: readonly number[];
}

/** How servers answer for a folder that needs a slash, for nothing, and for a path that goes on behind a file. */
const NO_LISTING = [301, 302, 307, 308, 404, 400];
/** Of one listing: some 100,000 entries. */
const LISTING_BYTES = 128 * 1_048_576;
const WANTED = `<?xml version="1.0" encoding="utf-8"?>
<propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getetag/><getlastmodified/></prop></propfind>`;

/** What a resource is called, and what is told of it. */
export interface DavEntry extends Omit<DavResource, 'href'> {
  /** Null for a name that is no text. */
  readonly name: string | null;
}

/** Requests to a WebDAV server, all below one folder. No redirection is followed: it would take the password with it. */
export class DavHttp {
  private readonly base: URL;
  private readonly authorization: string;

  constructor({ url, username, password }: DavConfig) {
    this.base = new URL(`${url.replace(/\/+$/, '')}/`);
    this.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  /** @throws RemoteFailure for what is no success and not accepted; what the body throws */
  async send(method: string, at: DavPath, { headers, body, accept = [], ...call }: DavCall): Promise<Response> {
    const noted = typeof body === 'object' ? new NotedStream(body) : null;
    const stream = noted ? ReadableStream.from(noted.passing()) : (body as string | undefined);
    const init: RequestInit = {
      method,
      headers: { ...headers, authorization: this.authorization },
      // Where a redirection may be followed or answered, a stream is kept whole in case it has to be sent again.
      redirect: stream instanceof ReadableStream ? 'error' : 'manual',
      ...(call.signal ? { signal: call.signal } : {}),
      ...(stream === undefined ? {} : { body: stream, duplex: 'half' }),
    };
    const response = await onNetwork(call, () => fetch(this.urlOf(at), init)).catch((error: unknown) => {
      noted?.rethrow();
      throw error;
    });
    if (response.ok || accept.includes(response.status)) return response;
    await response.body?.cancel();
    throw refusalOf(response, call);
  }

  /** The same, for an answer whose body tells nothing. @returns its status */
  async done(method: string, at: DavPath, call: DavCall): Promise<number> {
    const { status, body } = await this.send(method, at, call);
    await body?.cancel();
    return status;
  }

  /** What lies under a path; null for nothing. */
  async look(at: DavPath, call: HttpCall): Promise<DavEntry | null> {
    const [found] = (await askAgain(call, () => this.find(at, '0', call))) ?? [];
    return found ?? null;
  }

  /** What lies in a folder; null where there is none. */
  async children(at: DavPath, call: HttpCall): Promise<DavEntry[] | null> {
    const found = await askAgain(call, () => this.find(at, '1', call));
    if (found?.[0]?.kind !== 'folder') return null;
    return found.slice(1);
  }

  /** To be named in a header. */
  headerOf(at: DavPath): string {
    return this.urlOf(at).pathname;
  }

  urlOf(at: DavPath): URL {
    return new URL(at.map(encodeURIComponent).join('/'), this.base);
  }

  /** The resource itself first. */
  private async find(at: DavPath, depth: '0' | '1', call: HttpCall): Promise<DavEntry[] | null> {
    const headers = { depth, 'content-type': 'application/xml; charset="utf-8"' };
    const response = await this.send('PROPFIND', at, {
      ...call,
      headers,
      body: WANTED,
      accept: NO_LISTING,
    });
    if (response.status !== 207) {
      await response.body?.cancel();
      // Some servers have folders at addresses with a slash at the end alone.
      if (response.status < 400 && at.at(-1) !== '') return this.find([...at, ''], depth, call);
      return null;
    }
    return onNetwork(call, async () => {
      const found = await readMultistatus(response.body ?? emptyBody(), LISTING_BYTES);
      return this.placed(at.at(-1) === '' ? at.slice(0, -1) : at, found);
    });
  }

  private placed(at: DavPath, found: readonly DavResource[]): DavEntry[] {
    const self: DavEntry[] = [];
    const inside: DavEntry[] = [];
    for (const { href, ...told } of found) {
      const names = this.namesOf(href);
      if (names.length === at.length) self.push({ ...told, name: names.at(-1) ?? '' });
      else if (names.length === at.length + 1) inside.push({ ...told, name: names.at(-1) ?? null });
      else throw new Error(`The server tells of ${names.length - at.length} levels below what it was asked for`);
    }
    const [first, ...more] = self;
    if (!first || more.length > 0) throw new Error('The server does not tell of what it was asked for');
    return [first, ...inside];
  }

  /** Names from the root on; null for one that is no text. */
  private namesOf(href: string): (string | null)[] {
    const { pathname } = new URL(href, this.base);
    const root = this.base.pathname;
    if (`${pathname}/` !== root && !pathname.startsWith(root))
      throw new Error('The server tells of something outside of the root');
    const below = pathname.slice(root.length);
    return below.replace(/\/$/, '').split('/').filter(Boolean).map(decoded);
  }
}

function decoded(text: string): string | null {
  try {
    const name = decodeURIComponent(text);
    return name.includes('/') ? null : name;
  } catch {
    return null;
  }
}

function refusalOf(response: Response, call: HttpCall): Error {
  const { path } = call;
  switch (response.status) {
    case 401:
    case 403:
      return new RemoteFailure('forbidden', { path });
    case 404:
      return new RemoteFailure('not_found', { path });
    case 412:
      return new RemoteFailure('changed', { path });
    case 413:
      return new RemoteFailure('too_large', { path });
    case 507:
      return new RemoteFailure('full', { path });
    case 414:
      return new RemoteFailure('name_refused', { path });
    default:
      return busy(response, call);
  }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {
  // Nothing.
}
