import { spawnSync } from 'node:child_process';
import { type RunAs, SVC } from './workspace-process.js';

/** As most systems number them. */
export const NOBODY: RunAs = { uid: 65_534, gid: 65_534 };

/** Whether this test run can act as another user who can reach the product: root can, where the checkout lies in the open. */
export function canActAsNobody(): boolean {
  if (process.getuid?.() !== 0) return false;
  return spawnSync(process.execPath, [SVC, '--version'], { ...NOBODY, cwd: '/', stdio: 'ignore' }).status === 0;
}
