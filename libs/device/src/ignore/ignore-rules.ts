import { isIgnoredName } from '@workspace-graph/domain/ignored-names';
import ignore, { type Ignore } from 'ignore';

/** Name of the file in a mirror, or in a folder of it, whose rules are those of gitignore. */
export const IGNORE_FILE = '.svcignore';

/**
 * The rules that hold in one folder: those of its own ignore file, then those of the folders above. As in Git, what
 * lies in an ignored folder cannot be brought back; whoever walks does not enter such a folder.
 */
export class IgnoreRules {
  static readonly NONE = new IgnoreRules(null, '', null);

  private constructor(
    private readonly above: IgnoreRules | null,
    /** Folder of the rules, within the mirror, with a slash at its end; empty for the mirror itself. */
    private readonly base: string,
    private readonly own: Ignore | null,
  ) {}

  /** The rules in `folder`, within the mirror ('' for the mirror itself), whose ignore file holds `text`. */
  with(folder: string, text: string): IgnoreRules {
    const own = ignore({ ignorecase: false, allowRelativePaths: true }).add(text.replace(/^\uFEFF/, ''));
    return new IgnoreRules(this, folder === '' ? '' : `${folder}/`, own);
  }

  /** Whether a path within the mirror is ignored; no folder above it is. */
  ignores(path: string, isFolder: boolean): boolean {
    if (isIgnoredName(path.slice(path.lastIndexOf('/') + 1))) return true;
    for (let rules: IgnoreRules | null = this; rules; rules = rules.above) {
      const decided = rules.own?.test(path.slice(rules.base.length) + (isFolder ? '/' : ''));
      if (decided?.ignored || decided?.unignored) return decided.ignored;
    }
    return false;
  }
}
