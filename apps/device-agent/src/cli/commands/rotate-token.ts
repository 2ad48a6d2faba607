import { readFile } from 'node:fs/promises';
import { completeRotation, type OutputOf, rotateToken } from '@workspace-graph/contracts';
import { loadConfig } from '@workspace-graph/platform/config';
import type { Command } from 'commander';
import { lockRotation, storeToken } from '../../workspace/token-file.js';
import { type WorkspacePaths, workspacePaths } from '../../workspace/workspace-paths.js';
import { CliError } from '../cli-error.js';
import type { Output } from '../output.js';
import { runs } from '../run-command.js';
import { connect, WorkspaceClient } from '../workspace-client.js';
import { howToSet } from './agent.js';

type Rotated = OutputOf<typeof rotateToken>;

/** `svc token rotate` */
export function rotateCommand(token: Command): void {
  runs(
    token
      .command('rotate')
      .description('replace the credential that this command uses with a new one; tokens created with it stay valid'),
    async ({ out }) => {
      const { config } = loadConfig('cli', process.env);
      const paths = workspacePaths(config.SVC_WORKSPACE_ROOT);
      const given = config.SVC_TOKEN?.reveal();
      await (given === undefined || (await isKept(given, paths)) ? rotateKept(out, paths) : rotateGiven(out));
    },
  );
}

/** Whether a credential is the workspace's own: `svc agent env` puts that into SVC_TOKEN, and its successor must be stored. */
async function isKept(given: string, paths: WorkspacePaths): Promise<boolean> {
  const kept = await readFile(paths.token, 'utf8').catch(() => '');
  return kept.trim() === given;
}

/** Prints the successor of a credential that somebody else keeps, before the old one ends. */
async function rotateGiven(out: Output): Promise<void> {
  const client = await connect();
  const made = await client.call(rotateToken, {});
  out.note(
    `This token replaces the one in SVC_TOKEN and is valid until ${made.token.expires_at}. It is not shown again:`,
  );
  await out.resultWritten(made, [made.secret]);
  await complete(client.url, made);
}

/** Stores the successor of the workspace's own credential where the old one lies, before that one ends. */
async function rotateKept(out: Output, paths: WorkspacePaths): Promise<void> {
  const lock = lockRotation(paths);
  try {
    const client = await connect();
    const made = await client.call(rotateToken, {});
    await storeToken(paths, made.secret);
    await complete(client.url, made);
    out.result({ token: made.token, file: paths.token }, [
      `The workspace has a new credential in ${paths.token}; the old one has ended.`,
      'Programs that used the old one, such as agents, need the new one.',
      ...(process.env['SVC_TOKEN'] ? [`SVC_TOKEN in this shell has the old one: ${howToSet()}`] : []),
    ]);
  } finally {
    lock.release();
  }
}

async function complete(url: string, { secret }: Rotated): Promise<void> {
  try {
    await new WorkspaceClient(url, secret).call(completeRotation, {});
  } catch (cause) {
    const why = cause instanceof CliError ? cause.message : String(cause);
    throw new CliError(
      'ROTATION_NOT_COMPLETE',
      `The new credential is stored, but the old one could not be ended: ${why}`,
      {
        cause,
        hint: 'Both are valid. Run `svc token rotate` again with the new one: it ends the old one first.',
      },
    );
  }
}
