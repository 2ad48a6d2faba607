import { Bearer } from '../http/bearer.js';
import { fieldOf, jsonOf, parsedJson } from '../http/json.js';
import { askAgain, busy, type HttpCall, onNetwork } from '../http/network.js';
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
  private readonly bearer = new Bearer((call) => this.refreshed(call));

  constructor(
    private readonly credentials: DropboxCredentials,
    private readonly origins: DropboxOrigins,
  ) {}

  async rpc(endpoint: string, argument: object, call: DropboxCall): Promise<unknown> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(argument) };
    return jsonOf(await this.send(`${this.origins.api}/2/${endpoint}`, init, call), call);
  }

  async upload(endpoint: string, argument: object, body: Uint8Array, call: DropboxCall): Promise<unknown> {
    const headers = { 'content-type': 'application/octet-stream', 'dropbox-api-arg': headerOf(argument) };
    const init = { method: 'POST', headers, body: Buffer.from(body) };
    return jsonOf(await this.send(`${this.origins.content}/2/${endpoint}`, init, call), call);
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

  private async send(url: string, init: RequestInit, call: DropboxCall): Promise<Response> {
    const once = async () => settled(await this.authorized(url, init, call), call);
    return call.isRead ? askAgain(call, once) : once();
  }

  private authorized(url: string, init: RequestInit, call: DropboxCall): Promise<Response> {
    const signal = call.signal ?? null;
    return this.bearer.send(call, (authorization) => {
      const headers = { ...init.headers, authorization };
      return onNetwork(call, () => fetch(url, { ...init, headers, signal, redirect: 'error' }));
    });
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
    const answer = await jsonOf(await settled(response, call), call);
    const token = fieldOf(answer, 'access_token');
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
  if (status === 409) throw failureOf(dropboxErrorOf(parsedJson(text, call)), call.path);
  if (status === 401 || status === 403) throw new RemoteFailure('forbidden', { path: call.path });
  if (status === 429 || status >= 500) throw busy(response, call);
  throw new Error(`Dropbox refused a call with ${status}: ${text.slice(0, 200)}`);
}

/** JSON of ASCII characters alone, as a header must be. */
function headerOf(argument: object): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(argument).replace(/[\u007f-\uffff]/g, escaped);
}
