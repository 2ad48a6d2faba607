const IGNORED_NAMES = new Set(['thumbs.db', 'desktop.ini']);
const IGNORED_FORMS = /^\.|^~\$|\.(tmp|swp)$/i;

/** Whether a name is ignored everywhere, as a file and as a folder; no rule brings it back. */
export function isIgnoredName(name: string): boolean {
  return IGNORED_FORMS.test(name) || IGNORED_NAMES.has(name.toLowerCase());
}
