import { type Section, ServiceError, validationFailed } from '@workspace-graph/contracts';
import { type FilePathParts, filePathParts, type PathRules, parseFilePath, parseSubpath } from './file-path.js';
import { isIgnoredName } from './ignored-names.js';

/** Paths as an input gives them, in whole or in parts. */

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * Path of a file that is to be made or changed.
 * @throws ServiceError VALIDATION_FAILED, naming `field`
 */
export function checkedPath(text: string, field: string, rules: PathRules = {}): FilePathParts {
  const parsed = parseFilePath(text, rules);
  if ('problem' in parsed) throw validationFailed([{ path: field, message: parsed.problem }]);
  const ignored = parsed.value.path.split('/').find(isIgnoredName);
  if (ignored !== undefined)
    throw validationFailed([{ path: field, message: `has the name ${ignored}, which is ignored everywhere` }]);
  return parsed.value;
}

/**
 * The path of a file that is described by its parts. A name or subfolders with other parts in them are refused.
 * @throws ServiceError VALIDATION_FAILED
 */
export function pathOfNewFile({
  section,
  subpath,
  filename,
}: {
  readonly section: string;
  readonly subpath: string | null;
  readonly filename: string;
}): string {
  refuseOddParts({ subpath, filename });
  if (filename.includes('/')) throw validationFailed([{ path: 'filename', message: 'must not contain a slash' }]);
  return [section, ...(subpath === null ? [] : [subpath]), filename].join('/');
}

/** What of the path of a file is to be another; what is left out stays. */
export interface NewParts {
  readonly new_section?: Section | undefined;
  /** Null: directly in the section. */
  readonly new_subpath?: string | null | undefined;
  readonly new_filename?: string | undefined;
}

/** Where a file goes. @throws ServiceError VALIDATION_FAILED */
export function pathOfMovedFile(path: string, to: NewParts): string {
  const now = filePathParts(path);
  refuseOddParts({ new_subpath: to.new_subpath ?? null, new_filename: to.new_filename ?? null });
  if (to.new_filename?.includes('/'))
    throw validationFailed([{ path: 'new_filename', message: 'must not contain a slash' }]);
  const subpath = to.new_subpath === undefined ? now.subpath : to.new_subpath;
  const segments = [to.new_section ?? now.section, subpath, to.new_filename ?? now.filename];
  return checkedPath(segments.filter((segment) => segment !== null).join('/'), 'new_subpath').path;
}

/** A folder of a node, and its new name. */
export interface Prefixes {
  readonly from: string;
  readonly to: string;
}

/** What a folder is renamed from and to. @throws ServiceError VALIDATION_FAILED */
export function renamedPrefixes({
  old_prefix,
  new_prefix,
}: {
  readonly old_prefix: string;
  readonly new_prefix: string;
}): Prefixes {
  const from = checkedPath(old_prefix, 'old_prefix').path;
  const to = checkedPath(new_prefix, 'new_prefix', { portable: true }).path;
  if (to === from || to.startsWith(`${from}/`))
    throw validationFailed([{ path: 'new_prefix', message: 'must not be old_prefix or a folder in it' }]);
  return { from, to };
}

/** The bytes of content that is given inline. @throws ServiceError VALIDATION_FAILED */
export function bytesOfContent(content: string, encoding: 'utf8' | 'base64'): Uint8Array {
  if (encoding === 'base64') {
    if (!BASE64.test(content)) throw validationFailed([{ path: 'content', message: 'must be base64' }]);
    return Buffer.from(content, 'base64');
  }
  if (!content.isWellFormed()) throw validationFailed([{ path: 'content', message: 'must be valid Unicode text' }]);
  return Buffer.from(content);
}

/** The bytes of a text that replaces one. @throws ServiceError NOT_EDITABLE */
export function bytesOfText(content: string, path: string): Uint8Array {
  if (!content.isWellFormed() || content.includes('\0'))
    throw new ServiceError('NOT_EDITABLE', 'content: must be Unicode text without NUL characters.', { path });
  return Buffer.from(content);
}

function refuseOddParts(parts: Readonly<Record<string, string | null>>): void {
  for (const [path, text] of Object.entries(parts)) {
    const parsed = text === null ? null : parseSubpath(text, { portable: true });
    if (parsed && 'problem' in parsed) throw validationFailed([{ path, message: parsed.problem }]);
  }
}
