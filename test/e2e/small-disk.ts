import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunAs, SVC } from './workspace-process.js';

const MEBIBYTE = 1_048_576;
/** As most systems number them. */
export const NOBODY: RunAs = { uid: 65_534, gid: 65_534 };

/** Whether this test run can act as another user who can reach the product: root can, where the checkout lies in the open. */
export function canActAsNobody(): boolean {
  if (process.getuid?.() !== 0) return false;
  return spawnSync(process.execPath, [SVC, '--version'], { ...NOBODY, cwd: '/', stdio: 'ignore' }).status === 0;
}

/** A disk of a few megabytes for one user. */
export class SmallDisk implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  private readonly ballast = join(this.folder, 'ballast');

  /** @throws Error where root may not mount, as in closed containers */
  constructor(sizeMb: number, { uid, gid }: RunAs) {
    const options = `size=${sizeMb}m,uid=${uid},gid=${gid},mode=0700`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', this.folder], { stdio: 'ignore' });
  }

  /** Whether this test run may make one. */
  static available(): boolean {
    if (process.platform !== 'linux' || !canActAsNobody()) return false;
    try {
      using _probe = new SmallDisk(1, NOBODY);
      return true;
    } catch {
      return false;
    }
  }

  /** Fills it up to so many free bytes. */
  fill(leaveBytes: number): void {
    const block = Buffer.alloc(MEBIBYTE);
    const file = openSync(this.ballast, 'a');
    try {
      for (let free = this.freeBytes(); free > leaveBytes; free = this.freeBytes())
        writeSync(file, block, 0, Math.min(block.length, free - leaveBytes));
    } finally {
      closeSync(file);
    }
  }

  /** Makes the room free again. */
  clear(): void {
    rmSync(this.ballast, { force: true });
  }

  [Symbol.dispose](): void {
    if (statSync(this.folder).dev !== statSync(tmpdir()).dev) execFileSync('umount', [this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return bavail * bsize;
  }
}
