import { readFile } from 'node:fs/promises';
import {
  ERRORS,
  type ErrorBody,
  type InputOf,
  isErrorCode,
  type Operation,
  type OutputOf,
  restRequest,
} from '@workspace-graph/contracts';
import { type Config, loadConfig } from '@workspace-graph/platform/config';
import { folderError, isNoRight } from '../workspace/workspace-folders.js';
import { type WorkspacePaths, workspacePaths } from '../workspace/workspace-paths.js';
import { findWorkspace, isSendable } from '../workspace/workspace-state.js';
import { CliError, EXIT, notRunning } from './cli-error.js';
import { requireUsable } from './unusable-workspace.js';

/** Talks to a workspace over its public interface. */
export class WorkspaceClient {
  constructor(
    readonly url: string,
    private readonly token: string,
  ) {}

  /** Calls an operation over REST. @throws CliError with the service's error object */
  async call<Op extends Operation>(operation: Op, input: InputOf<Op>): Promise<OutputOf<Op>> {
    const request = restRequest(operation, input);
    const response = await this.fetch(request.path, {
      method: request.method,
      ...(request.body ? { body: JSON.stringify(request.body), headers: { 'content-type': 'application/json' } } : {}),
    });
    return (await response.json()) as OutputOf<Op>;
  }

  /** A request with the credential; the body is not read. @throws CliError for every answer that is not a success */
  async fetch(path: string, init: RequestInit & { duplex?: 'half' } = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.token}`);
    const response = await fetch(new URL(path, this.url), { ...init, headers }).catch((cause: unknown) => {
      throw new CliError('WORKSPACE_UNREACHABLE', `Nothing answers at ${this.url}.`, {
        exitCode: EXIT.notRunning,
        cause,
        hint: 'Check `svc status` and `svc doctor`.',
      });
    });
    if (!response.ok) throw await refusal(response);
    return response;
  }
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

async function credential(config: Pick<Config, 'SVC_TOKEN'>, paths: WorkspacePaths): Promise<string> {
  return config.SVC_TOKEN?.reveal() ?? (await readToken(paths));
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
    hint: 'Set SVC_TOKEN, or start the local workspace once with `svc start`: it makes one.',
  });
}

async function refusal(response: Response): Promise<CliError> {
  const body = (await response.json().catch(() => null)) as ErrorBody | null;
  if (!body || typeof body.code !== 'string')
    return new CliError('UNEXPECTED_ANSWER', `The workspace answered ${response.status} without an error object.`, {
      status: response.status,
    });
  return new CliError(body.code, body.message, {
    body,
    status: response.status,
    ...(isErrorCode(body.code) ? { hint: ERRORS[body.code].remedy } : {}),
  });
}
