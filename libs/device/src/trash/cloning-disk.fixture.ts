import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '@workspace-graph/testing';

/** The least that XFS takes; its image has holes. */
const DISK_BYTES = 320 * 1_048_576;

/** A disk that makes copies which share their blocks. Only root can make one, where `mkfs.xfs` is installed. */
export class CloningDisk implements Disposable {
  private readonly place = mkdtempSync(join(tmpdir(), 'cloning-disk-'));
  readonly folder = join(this.place, 'disk');

  constructor() {
    const image = join(this.place, 'image');
    writeFileSync(image, '');
    truncateSync(image, DISK_BYTES);
    mkdirSync(this.folder);
    execFileSync('mkfs.xfs', ['-q', '-m', 'reflink=1', image], { stdio: 'ignore' });
    execFileSync('mount', ['-o', 'loop', image, this.folder], { stdio: 'ignore' });
  }

  static available(): boolean {
    if (process.platform !== 'linux' || process.getuid?.() !== 0 || findOnPath('mkfs.xfs') === undefined) return false;
    try {
      using _probe = new CloningDisk();
      return true;
    } catch {
      return false;
    }
  }

  [Symbol.dispose](): void {
    execFileSync('umount', [this.folder]);
    rmSync(this.place, { recursive: true, force: true });
  }
}
