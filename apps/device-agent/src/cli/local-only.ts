import { loadConfig } from '@workspace-graph/platform/config';
import { readMembership } from '../joined/membership.js';
import type { WorkspacePaths } from '../workspace/workspace-paths.js';
import { CliError } from './cli-error.js';

/**
 * Refuses a command that works on the workspace of this machine while SVC_URL names another one: whoever set it would
 * believe to work on that one.
 * @throws CliError LOCAL_ONLY
 */
export function requireLocal(command: string): void {
  const { SVC_URL } = loadConfig('cli', process.env).config;
  if (!SVC_URL) return;
  throw new CliError(
    'LOCAL_ONLY',
    `\`svc ${command}\` works on the workspace of this machine only, and SVC_URL names ${new URL(SVC_URL).origin}.`,
    { hint: 'Unset SVC_URL for the local workspace; for a central one see docs/deployment.md.' },
  );
}

/**
 * Refuses a command about the database of a local workspace in the folder of a joined one, whose data are at the centre.
 * @throws CliError LOCAL_ONLY
 */
export async function requireOwnData(command: string, paths: WorkspacePaths): Promise<void> {
  requireLocal(command);
  const membership = await readMembership(paths);
  if (!membership) return;
  throw new CliError(
    'LOCAL_ONLY',
    `${paths.root} belongs to ${membership.url}, where its data are kept and backed up.`,
    {
      hint: `For \`svc ${command}\`, name the folder of a local workspace in SVC_WORKSPACE_ROOT; \`svc export\` writes the graph to a document.`,
    },
  );
}
