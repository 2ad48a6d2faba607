import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { examineWorkspace, type OutputOf, ServiceError } from '@workspace-graph/contracts';
import type { WorkspacePaths } from './workspace-paths.js';

const SVC = fileURLToPath(new URL('../../bin/svc.mjs', import.meta.url));
/** Within the time that a caller waits. */
const MOST_MS = 30_000;
const MOST_BYTES = 1024 ** 2;
const Doctor = examineWorkspace.output.omit({ examined_at: true });

/**
 * What `svc doctor` tells of this workspace, from a process of its own: it reads whole databases, and would hold up the
 * one that serves.
 * @throws ServiceError TIMEOUT
 */
export async function examineElsewhere({ root }: WorkspacePaths): Promise<OutputOf<typeof examineWorkspace>> {
  const { stdout, isLate } = await run(root);
  if (isLate)
    throw new ServiceError('TIMEOUT', `Looking took more than ${MOST_MS / 1_000} s; \`svc doctor\` waits longer.`);
  return { ...Doctor.parse(JSON.parse(stdout)), examined_at: new Date().toISOString() };
}

/** It fails with findings on its output where it has found a failure. */
function run(root: string): Promise<{ readonly stdout: string; readonly isLate: boolean }> {
  // What another workspace is reached with says nothing of this one.
  const { SVC_URL: _url, SVC_TOKEN: _token, ...env } = process.env;
  const options = {
    env: { ...env, SVC_WORKSPACE_ROOT: root },
    timeout: MOST_MS,
    maxBuffer: MOST_BYTES,
    windowsHide: true,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [SVC, 'doctor', '--json'], options, (error, stdout) =>
      resolve({ stdout, isLate: error?.killed === true }),
    );
  });
}
