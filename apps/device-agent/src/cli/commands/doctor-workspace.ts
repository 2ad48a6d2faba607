import { type Finding, whoami } from '@workspace-graph/contracts';
import { type Config, loadConfig } from '@workspace-graph/platform/config';
import type { WorkspacePaths } from '../../workspace/workspace-paths.js';
import type { FoundWorkspace } from '../../workspace/workspace-state.js';
import { CliError } from '../cli-error.js';
import { processOf, troubleOf } from '../unusable-workspace.js';
import { connect, connectLocal, type WorkspaceClient } from '../workspace-client.js';
import { checkFolders } from './doctor-folders.js';

/** Checks the workspace that SVC_URL names; none when it names none. */
export async function checkRemote(): Promise<Finding[]> {
  const { SVC_URL } = loadConfig('cli', process.env).config;
  if (!SVC_URL) return [];
  const check = 'SVC_URL';
  const where = new URL(SVC_URL).origin;
  const sentence = 'The other findings are about this machine.';
  try {
    const found = `${where} answers; ${await asWhom(await connect())}. ${sentence}`;
    return [{ check, state: 'ok', found }];
  } catch (error) {
    const advice = `Check SVC_URL and SVC_TOKEN, or unset SVC_URL for the workspace of this machine. ${hintOf(error)}`;
    return [
      {
        check,
        state: 'failed',
        found: `${where} cannot be used: ${messageOf(error)} ${sentence}`,
        advice: advice.trim(),
      },
    ];
  }
}

/** Checks the running workspace of this machine, and its folders through it. */
export async function checkWorkspace(paths: WorkspacePaths, found: FoundWorkspace | null): Promise<Finding[]> {
  const check = 'workspace';
  if (!found) return [{ check, state: 'ok', found: 'not running', advice: 'Start it with `svc start`.' }];
  const trouble = troubleOf(found, paths);
  if (trouble)
    return [{ check, state: 'failed', found: `${processOf(found)} ${trouble.what}`, advice: trouble.advice }];
  const url = found.state?.url ?? '';
  if (!(await isReady(url)))
    return [{ check, state: 'failed', found: `runs at ${url} but is not ready`, advice: `See ${paths.log}.` }];
  try {
    const client = await connectLocal(tokenOf(), paths);
    const ok = `runs at ${url}; ${await asWhom(client)}`;
    return [{ check, state: 'ok', found: ok }, ...(await checkFolders(client))];
  } catch (error) {
    return [
      {
        check,
        state: 'failed',
        found: `runs at ${url}, but refuses your credential: ${messageOf(error)}`,
        advice: hintOf(error) || `Check SVC_TOKEN; \`svc stop\`, then \`svc start\` makes a new credential.`,
      },
    ];
  }
}

/** A credential that was given for the workspace of SVC_URL says nothing about the one of this machine. */
function tokenOf(): Pick<Config, 'SVC_TOKEN'> {
  const { SVC_URL, SVC_TOKEN } = loadConfig('cli', process.env).config;
  return { SVC_TOKEN: SVC_URL ? undefined : SVC_TOKEN };
}

function isReady(url: string): Promise<boolean> {
  return fetch(new URL('/health/ready', url)).then(
    (response) => response.ok,
    () => false,
  );
}

async function asWhom(client: WorkspaceClient): Promise<string> {
  const me = await client.call(whoami, {});
  return `you are ${me.user.name} (${me.scope})`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hintOf(error: unknown): string {
  return error instanceof CliError ? (error.options.hint ?? '') : '';
}
