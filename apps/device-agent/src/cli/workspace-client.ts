import { readFile } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Client, Refusal, UnexpectedAnswer, Unreachable } from '@workspace-graph/client';
import {
  ERRORS,
  type ErrorBody,
  type InputOf,
  isErrorCode,
  type Operation,
  type OutputOf,
  SOCKET_PATH,
} from '@workspace-graph/contracts';
import { type Config, loadConfig } from '@workspace-graph/platform/config';
import { WebSocket } from 'ws';
import { folderError, isNoRight } from '../workspace/workspace-folders.js';
import { type WorkspacePaths, workspacePaths } from '../workspace/workspace-paths.js';
import { findWorkspace, isSendable } from '../workspace/workspace-state.js';
import { CliError, notRunning } from './cli-error.js';
import { REMEDIES } from './codes.js';
import { requireUsable } from './unusable-workspace.js';

/** A token of ours, or a JWT of an identity provider. */
const LIKE_A_CREDENTIAL = /^(svc_(pat|dev)_[\w-]+|[\w-]+\.[\w-]+\.[\w-]+)$/;

const HANDSHAKE_MS = 30_000;
/** Silence after which the system asks whether the other side of a socket is still there. */
const SILENT_MS = 30_000;

/** Talks to a workspace, and says what went wrong in the words of the command. */
export class WorkspaceClient {
  private readonly client: Client;

  constructor(
    readonly url: string,
    token: string,
  ) {
    this.client = new Client({ url, token });
  }

  /** Calls an operation. @throws CliError with the service's error object */
  call<Op extends Operation>(operation: Op, input: InputOf<Op>): Promise<OutputOf<Op>> {
    return this.client.call(operation, input).catch(failed);
  }

  /** A request with the credential; the body is not read. @throws CliError for every answer that is not a success */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return this.client.fetch(path, init).catch(failed);
  }

  /** Sends JSON with the credential and waits for the answer for as long as it takes: `fetch` gives up after five minutes. */
  async upload(path: string, json: AsyncIterable<Uint8Array>): Promise<Response> {
    const url = new URL(path, this.url);
    const headers = Object.fromEntries(this.client.headers({ 'content-type': 'application/json' }));
    const request = (url.protocol === 'https:' ? https : http).request(url, { method: 'POST', headers });
    const answering = new Promise<Response>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (answer) => resolve(asResponse(answer)));
      // A refusal can come before all is sent.
      pipeline(json, request).catch(reject);
    });
    return this.client.accepted(answering).catch(failed);
  }

  /** An open socket of the live channel. @throws CliError for every other answer */
  async openSocket(): Promise<WebSocket> {
    const socket = new WebSocket(new URL(SOCKET_PATH, this.url), {
      headers: Object.fromEntries(this.client.headers()),
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
    });
    // What breaks a connection closes it.
    socket.on('error', () => undefined);
    socket.once('upgrade', (answer) => answer.socket.setKeepAlive(true, SILENT_MS));
    const answering = new Promise<Response>((resolve, reject) => {
      socket.once('open', () => resolve(new Response()));
      socket.once('unexpected-response', (_request, answer) => resolve(asResponse(answer)));
      socket.once('error', reject);
    });
    const { status } = await this.client.accepted(answering).catch(failed);
    if (socket.readyState === WebSocket.OPEN) return socket;
    socket.terminate();
    return failed(new UnexpectedAnswer(this.url, status));
  }
}

function asResponse(answer: IncomingMessage): Response {
  const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
  return new Response(body, { status: answer.statusCode ?? 500 });
}

/** The workspace that SVC_URL names, else the running one of this user. */
export async function connect(): Promise<WorkspaceClient> {
  const { config } = loadConfig('cli', process.env);
  const paths = workspacePaths(config.SVC_WORKSPACE_ROOT);
  if (config.SVC_URL) return new WorkspaceClient(config.SVC_URL, await credential(config, paths));
  return connectLocal(config, paths);
}

/** The running workspace of this user, whatever SVC_URL names. */
export async function connectLocal(config: Pick<Config, 'SVC_TOKEN'>, paths: WorkspacePaths): Promise<WorkspaceClient> {
  const found = await findWorkspace(paths);
  if (!found) throw notRunning(paths.root);
  // What it says to the kept credential does not matter to one that was given.
  if (!(found.state && config.SVC_TOKEN)) requireUsable(found, paths);
  return new WorkspaceClient(found.state?.url ?? '', await credential(config, paths));
}

/** The workspace at an address, with the credential of this user's workspace. */
export async function connectTo(url: string, paths: WorkspacePaths): Promise<WorkspaceClient> {
  return new WorkspaceClient(url, await readToken(paths));
}

/** What agents are to work with: the credential of this user's workspace, whatever SVC_TOKEN holds, unless SVC_URL names another. */
export async function agentCredential(): Promise<string> {
  const { config } = loadConfig('cli', process.env);
  const paths = workspacePaths(config.SVC_WORKSPACE_ROOT);
  return config.SVC_URL ? credential(config, paths) : readToken(paths);
}

async function credential(config: Pick<Config, 'SVC_TOKEN'>, paths: WorkspacePaths): Promise<string> {
  const given = config.SVC_TOKEN?.reveal();
  if (given === undefined) return readToken(paths);
  if (LIKE_A_CREDENTIAL.test(given)) return given;
  throw new CliError('NO_CREDENTIAL', 'The value of SVC_TOKEN is not a credential.', {
    hint: 'A token begins with svc_pat_ or svc_dev_; create one with `svc token create`. Unset SVC_TOKEN for your own workspace.',
  });
}

async function readToken(paths: WorkspacePaths): Promise<string> {
  const token = await readFile(paths.token, 'utf8').then(
    (text) => text.trim(),
    (cause: unknown) => {
      if (isNoRight(cause)) throw folderError(paths, cause);
      throw noCredential('There is no credential for this workspace', cause);
    },
  );
  if (!isSendable(token)) throw noCredential(`The credential in ${paths.token} is damaged`);
  return token;
}

function noCredential(what: string, cause?: unknown): CliError {
  return new CliError('NO_CREDENTIAL', `${what}.`, {
    cause,
    hint: 'Set SVC_TOKEN, or start the local workspace once with `svc start`, which creates one.',
  });
}

/** @throws CliError */
function failed(error: unknown): never {
  if (error instanceof Unreachable)
    throw new CliError('WORKSPACE_UNREACHABLE', error.message, {
      cause: error.cause,
      hint: 'Run `svc status` and `svc doctor`.',
    });
  if (error instanceof UnexpectedAnswer)
    throw new CliError('UNEXPECTED_ANSWER', `The workspace answered ${error.status} without an error object.`, {
      status: error.status,
    });
  if (error instanceof Refusal) throw refused(error.body, error.status);
  throw error;
}

/** What the workspace refuses, over HTTP with a status, in the words of the command. */
export function refused(body: Refusal['body'], status?: number): CliError {
  const { code, message } = body;
  const remedy = isErrorCode(code) ? (REMEDIES[code] ?? ERRORS[code].remedy) : undefined;
  return new CliError(code as ErrorBody['code'], message, {
    body: body as ErrorBody,
    ...(status === undefined ? {} : { status }),
    ...(remedy ? { hint: remedy } : {}),
  });
}
