import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEBIBYTE = 1_048_576;

/** A disk of a few megabytes, to be filled. Only root can make one. */
export class SmallDisk implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  private readonly ballast = join(this.folder, 'ballast');
  private isReadOnly = false;
  private static isAvailable: boolean | undefined;

  /** For one user; root without one. @throws Error where root may not mount, as in closed containers */
  constructor(sizeMb: number, { uid, gid }: { readonly uid: number; readonly gid: number } = { uid: 0, gid: 0 }) {
    const options = `size=${sizeMb}m,uid=${uid},gid=${gid},mode=0700`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', this.folder], { stdio: 'ignore' });
  }

  /** Whether this test run may make one; tried once, for programs start slowly from a large process. */
  static available(): boolean {
    SmallDisk.isAvailable ??= SmallDisk.try();
    return SmallDisk.isAvailable;
  }

  private static try(): boolean {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
    try {
      using _probe = new SmallDisk(1);
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

  /** Lets nobody write on it, or everybody again. */
  setReadOnly(isReadOnly: boolean): void {
    if (isReadOnly === this.isReadOnly) return;
    this.isReadOnly = isReadOnly;
    execFileSync('mount', ['-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.folder], { stdio: 'ignore' });
  }

  [Symbol.dispose](): void {
    // A server may be about to close a file on it.
    if (statSync(this.folder).dev !== statSync(tmpdir()).dev) execFileSync('umount', ['--lazy', this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return bavail * bsize;
  }
}
