import { loadConfig } from '@workspace-graph/platform/config';
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
