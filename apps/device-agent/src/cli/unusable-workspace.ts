import type { WorkspacePaths } from '../workspace/workspace-paths.js';
import type { FoundWorkspace } from '../workspace/workspace-state.js';
import { CliError } from './cli-error.js';
import type { CliCode } from './codes.js';

interface Trouble {
  readonly code: CliCode;
  readonly what: string;
  readonly advice: string;
}

/** How to name a process whose number is not known yet. */
export function processOf({ pid }: Pick<FoundWorkspace, 'pid'>): string {
  return pid === null ? 'a process' : `process ${pid}`;
}

/** What is the matter with a workspace that runs and cannot be used, and the way out; null when it can be used. */
export function troubleOf(found: FoundWorkspace, paths: WorkspacePaths): Trouble | null {
  if (found.state === null)
    return {
      code: 'WORKSPACE_NOT_READY',
      what: `serves ${paths.root}, but does not report its address: it is starting or stopping, or ${paths.state} is damaged.`,
      advice: 'Wait a moment. If that does not help, run `svc stop`, then `svc start`.',
    };
  if (found.answer === 'refuses')
    return {
      code: 'CREDENTIAL_REFUSED',
      what: `serves ${paths.root} at ${found.state.url}, but does not accept the credential in ${paths.token}: it is missing, damaged or revoked.`,
      advice: 'Run `svc stop`, then `svc start`, which creates a new one; or set SVC_TOKEN to another credential.',
    };
  if (found.answer === 'disowned')
    return {
      code: 'CREDENTIAL_REFUSED',
      what: `serves ${paths.root}. ${found.message}`,
      advice: 'Stop it first with `svc stop`.',
    };
  if (found.answer === 'silent')
    return {
      code: 'WORKSPACE_SILENT',
      what: `serves ${paths.root}, but does not answer at ${found.state.url}.`,
      advice: `It may be busy: wait a moment. If that does not help, run \`svc stop\`, then \`svc start\`; see ${paths.log} for details.`,
    };
  return null;
}

/** @throws CliError when the workspace that runs cannot be used */
export function requireUsable(found: FoundWorkspace, paths: WorkspacePaths): void {
  const trouble = troubleOf(found, paths);
  if (trouble === null) return;
  throw new CliError(trouble.code, sentence(found, trouble.what), {
    hint: trouble.advice,
  });
}

/** The answer to a start while the workspace runs. */
export function alreadyRunning(found: FoundWorkspace, paths: WorkspacePaths): CliError {
  const trouble = troubleOf(found, paths);
  return trouble === null
    ? new CliError(
        'ALREADY_RUNNING',
        `This workspace is already running at ${found.state?.url} (${processOf(found)}).`,
        {
          hint: 'Use it, or stop it with `svc stop`.',
        },
      )
    : new CliError('ALREADY_RUNNING', sentence(found, trouble.what), { hint: trouble.advice });
}

function sentence(found: FoundWorkspace, what: string): string {
  const subject = processOf(found);
  return `${subject.charAt(0).toUpperCase()}${subject.slice(1)} ${what}`;
}
