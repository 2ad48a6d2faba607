import { joinedTo, locate, type MirrorPath } from './mirror-path.js';

/**
 * Finds many paths of one mirror at one moment: each folder on the way is looked at once. Not for longer, for folders come
 * and go; whoever opens what was found looks again.
 */
export class PathFinder {
  private readonly folders = new Map<string, Promise<MirrorPath>>();

  constructor(private readonly mirrorRoot: string) {}

  /** @throws ServiceError as `locate` */
  async locate(path: string): Promise<MirrorPath> {
    const checked = path.normalize('NFC');
    const end = checked.lastIndexOf('/');
    if (end === -1) return locate(this.mirrorRoot, checked);
    const above = checked.slice(0, end);
    const folder = this.folders.get(above) ?? locate(this.mirrorRoot, above);
    this.folders.set(above, folder);
    return joinedTo(await folder, checked.slice(end + 1));
  }
}
