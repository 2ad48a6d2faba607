import { busy, type HttpCall, onNetwork, readAgain } from '../http/network.js';
import { RemoteFailure } from '../port/index.js';
import { dropboxErrorOf, failureOf } from './dropbox-failure.js';

export interface DropboxCredentials {
  readonly appKey: string;
  readonly appSecret: string;
  readonly refreshToken: string;
}

/** Where the three services of Dropbox are reached. */
export interface DropboxOrigins {
  readonly api: string;
  readonly content: string;
}

export const DROPBOX: DropboxOrigins = {
  api: 'https://api.dropboxapi.com',
  content: 'https://content.dropboxapi.com',
};

export interface DropboxCall extends HttpCall {
  readonly isRead?: boolean;
  readonly range?: string | undefined;
}

/** Calls over plain HTTP: the client library buffers whole downloads, and a second way beside it would be one too many. */
export class DropboxApi {
  private token: Promise<string> | null = null;

  constructor(
    private readonly credentials: DropboxCredentials,
    private readonly origins: DropboxOrigins,
  ) {}

  async rpc(endpoint: string, argument: object, call: DropboxCall): Promise<unknown> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(argument) };
    return this.json(await this.send(`${this.origins.api}/2/${endpoint}`, init, call), call);
  }

  async upload(endpoint: string, argument: object, body: Uint8Array, call: DropboxCall): Promise<unknown> {
    const headers = { 'content-type': 'application/octet-stream', 'dropbox-api-arg': headerOf(argument) };
    const init = { method: 'POST', headers, body: Buffer.from(body) };
    return this.json(await this.send(`${this.origins.content}/2/${endpoint}`, init, call), call);
  }

  /** The answer with its body unread. */
  download(argument: object, call: DropboxCall): Promise<Response> {
    const range = call.range === undefined ? {} : { range: call.range };
    const headers = { 'dropbox-api-arg': headerOf(argument), ...range };
    return this.send(
      `${this.origins.content}/2/files/download`,
      { method: 'POST', headers },
      { ...call, isRead: true },
    );
  }

  private async json(response: Response, call: DropboxCall): Promise<unknown> {
    const text = await onNetwork(call, () => response.text());
    return text === '' ? null : parsed(text, call);
  }

  private async send(url: string, init: RequestInit, call: DropboxCall): Promise<Response> {
    const once = () => this.once(url, init, call);
    return call.isRead ? readAgain(call, once) : once();
  }

  private async once(url: string, init: RequestInit, call: DropboxCall): Promise<Response> {
    const response = await this.authorized(url, init, call);
    if (response.status !== 401) return settled(response, call);
    // The access token ended: nothing was done, so that the same call is sent once more.
    await response.body?.cancel();
    this.token = null;
    return settled(await this.authorized(url, init, call), call);
  }

  private async authorized(url: string, init: RequestInit, call: DropboxCall): Promise<Response> {
    call.signal?.throwIfAborted();
    const headers = { ...init.headers, authorization: `Bearer ${await this.accessToken(call)}` };
    const signal = call.signal ?? null;
    return onNetwork(call, () => fetch(url, { ...init, headers, signal, redirect: 'error' }));
  }

  private async accessToken(call: DropboxCall): Promise<string> {
    // Without the signal of one caller, because others wait for the same token.
    this.token ??= this.refreshed({ path: call.path });
    const mine = this.token;
    try {
      return await mine;
    } catch (error) {
      if (this.token === mine) this.token = null;
      throw error;
    }
  }

  private async refreshed(call: DropboxCall): Promise<string> {
    const { appKey, appSecret, refreshToken } = this.credentials;
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: appKey,
      client_secret: appSecret,
    });
    const init = { method: 'POST', body, redirect: 'error' as const };
    const response = await onNetwork(call, () => fetch(`${this.origins.api}/oauth2/token`, init));
    if (response.status === 400) throw await refusal(response, call);
    const answer = await this.json(await settled(response, call), call);
    const token: unknown = Reflect.get(Object(answer), 'access_token');
    if (typeof token !== 'string') throw new Error('Dropbox answered no access token');
    return token;
  }
}

async function refusal(response: Response, { path }: DropboxCall): Promise<RemoteFailure> {
  await response.body?.cancel();
  return new RemoteFailure('forbidden', { path });
}

/** @throws RemoteFailure for what is no success; 416 is for the caller to explain */
async function settled(response: Response, call: DropboxCall): Promise<Response> {
  const { status } = response;
  if (response.ok || status === 416) return response;
  const text = await onNetwork(call, () => response.text());
  if (status === 409) throw failureOf(dropboxErrorOf(parsed(text, call)), call.path);
  if (status === 401 || status === 403) throw new RemoteFailure('forbidden', { path: call.path });
  if (status === 429 || status >= 500) throw busy(response, call);
  throw new Error(`Dropbox refused a call with ${status}: ${text.slice(0, 200)}`);
}

/** What is no JSON comes from something on the way, not from Dropbox. */
function parsed(text: string, { path }: DropboxCall): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RemoteFailure('unavailable', { path }, { cause: error });
  }
}

/** JSON of ASCII characters alone, as a header must be. */
function headerOf(argument: object): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(argument).replace(/[\u007f-\uffff]/g, escaped);
}
