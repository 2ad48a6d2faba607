import { type FileStatus, LIMITS, NODE_TYPES, type NodeType, SECTIONS, type Section } from '@workspace-graph/contracts';

/** A path within a node, taken apart. Every part is in NFC. */
export interface FilePathParts {
  /** The whole path: section, subfolders, name, joined by `/`. */
  readonly path: string;
  /** First folder of the path. */
  readonly section: Section;
  /** Subfolders within the section; null directly in it. */
  readonly subpath: string | null;
  /** Last segment of the path. */
  readonly filename: string;
}

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

const CONTROL = /\p{Cc}/u;
const WINDOWS_CHARACTERS = /[<>:"|?*]/;
const WINDOWS_NAMES = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;
const UTF8 = new TextEncoder();

/** Why a name cannot be one segment of a path; null when it can. The name is in NFC. */
export function segmentProblem(segment: string): string | null {
  if (segment === '') return 'has an empty segment';
  if (segment === '.' || segment === '..') return `has the segment "${segment}"`;
  if (/[/\\]/.test(segment)) return 'has a slash or backslash inside a segment';
  if (CONTROL.test(segment)) return 'has a control character';
  if (!segment.isWellFormed()) return 'is not valid Unicode text';
  if (UTF8.encode(segment).length > LIMITS.fileNameBytes)
    return `has a segment of more than ${LIMITS.fileNameBytes} bytes`;
  return null;
}

/** Why a device that runs Windows could not hold a name; null when it can. Names made through the product keep to it. */
export function portabilityProblem(segment: string): string | null {
  if (WINDOWS_CHARACTERS.test(segment)) return 'has one of the characters < > : " | ? *, which Windows does not allow';
  if (WINDOWS_NAMES.test(segment)) return `has the segment "${segment}", which Windows reserves`;
  if (/[. ]$/.test(segment)) return 'has a segment that ends with a dot or a space, which Windows does not allow';
  return null;
}

export interface PathRules {
  /** Section of a path that begins with none. */
  readonly section?: Section;
  /** True for paths that the product is about to make: every device must be able to hold them. */
  readonly portable?: boolean;
}

/** Checks a path within a section, such as `notes/2026`, and answers it in NFC. */
export function parseSubpath(text: string, { portable = false }: PathRules = {}): Parsed<string> {
  const path = text.normalize('NFC');
  if (path.length > LIMITS.pathLength) return { problem: `has more than ${LIMITS.pathLength} characters` };
  const segments = path.split('/');
  if (segments.length > LIMITS.pathDepth) return { problem: `has more than ${LIMITS.pathDepth} levels` };
  for (const segment of segments) {
    const problem = segmentProblem(segment) ?? (portable ? portabilityProblem(segment) : null);
    if (problem !== null) return { problem };
  }
  return { value: path };
}

/** Takes the path of a file apart. */
export function parseFilePath(text: string, rules: PathRules = {}): Parsed<FilePathParts> {
  const { section } = rules;
  const parsed = parseSubpath(text, rules);
  if ('problem' in parsed) return parsed;
  const segments = parsed.value.split('/');
  const first = segments[0] ?? '';
  const named = isSection(first) && segments.length > 1;
  if (!named && section === undefined)
    return { problem: `must begin with one of the folders ${SECTIONS.join(', ')} and name a file in it` };
  const own = named ? segments.slice(1) : segments;
  return {
    value: joinFilePath((named ? first : section) as Section, own.slice(0, -1).join('/') || null, own.at(-1) ?? ''),
  };
}

/** Puts parts together that are valid already. */
export function joinFilePath(section: Section, subpath: string | null, filename: string): FilePathParts {
  return { path: [section, ...(subpath === null ? [] : [subpath]), filename].join('/'), section, subpath, filename };
}

/** Parts of a path that is known to be valid, such as one of a record. */
export function filePathParts(path: string): FilePathParts {
  const parsed = parseFilePath(path);
  if ('problem' in parsed) throw new Error(`The path ${JSON.stringify(path)} ${parsed.problem}`);
  return parsed.value;
}

/** Letters that are no other case of what they are folded to: the dotless i, and what stands for others by compatibility. */
const NO_OTHER_CASE = /([ıŉẚև\ufb00-\ufb06\ufb13-\ufb17]+)/u;
/** Most paths, and those need no normalising. */
const ASCII = /^[\x20-\x7e]*$/;

/**
 * The form in which paths are compared: paths of one form are one name on a file system that ignores case or the
 * form of characters, so only one of them can be tracked. It is canonical decomposition, full case folding, canonical
 * composition, so `ß`, `ẞ` and `SS` are one, as are `ſ` and `s`, and all sigmas. What differs by compatibility only is
 * not: `H₂O` is not `H2O`, nor `ﬁ` `fi`; nor is the dotless `ı` any `i`. The database has the same as `file.path_key`.
 */
export function pathKey(path: string): string {
  if (ASCII.test(path)) return path.toLowerCase();
  const parts = path.normalize('NFD').split(NO_OTHER_CASE);
  return parts
    .map((part, index) => (index % 2 === 1 ? part : foldCase(part)))
    .join('')
    .normalize('NFC');
}

/** Twice, because the small form of a capital may have another capital: ẞ, ß, SS. */
function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

export function isSection(text: string): text is Section {
  return (SECTIONS as readonly string[]).includes(text);
}

const STATUS_OF: Readonly<Record<Section, FileStatus | null>> = { wip: 'wip', outputs: 'output', resources: null };

export function statusOfSection(section: Section): FileStatus | null {
  return STATUS_OF[section];
}

export function sectionOfStatus(status: FileStatus): Section {
  return status === 'wip' ? 'wip' : 'outputs';
}

const TYPE_FOLDERS = {
  project: 'projects',
  process: 'processes',
  area: 'areas',
  principle: 'principles',
} as const satisfies Record<Exclude<NodeType, 'organization'>, string>;

/** What lies in the folder of an organization on a remote. */
export const ORGANIZATION_FOLDERS: readonly string[] = ['workflow', ...Object.values(TYPE_FOLDERS)];

/** What a path such as kubernetes/areas/sig-network names; null for a text that is no such path. */
export function parseNodeFolder(
  text: string,
): { readonly organizationKey: string; readonly type: NodeType; readonly key: string } | null {
  const [organizationKey = '', folder, key, ...more] = text.split('/');
  if (organizationKey === '' || more.length > 0) return null;
  if (folder === undefined) return { organizationKey, type: 'organization', key: organizationKey };
  const type = NODE_TYPES.find((each) => each !== 'organization' && TYPE_FOLDERS[each] === folder);
  return type && key ? { organizationKey, type, key } : null;
}

/** A node by the keys that never change, as somebody sees it. */
interface KeyedPlace {
  readonly type: NodeType;
  readonly sync_key: string;
  /** Null for an organization, and for who does not see the organization. */
  readonly organization_sync_key: string | null;
}

/**
 * Folders from the workspace root, or from the root of a remote, to a node. It hangs on keys that never change, so
 * renaming a node moves nothing. Without the key of the organization it begins with the type.
 */
export function nodeFolder(place: KeyedPlace): string {
  if (place.type === 'organization') return place.sync_key;
  const within = `${TYPE_FOLDERS[place.type]}/${place.sync_key}`;
  return place.organization_sync_key === null ? within : `${place.organization_sync_key}/${within}`;
}

/** Stands for the organization in the folders of nodes whose organization their maker does not see. */
export const SHARED_FOLDER = 'shared';

/** Whether a node belongs to an organization that whoever was told this place does not see. */
export function isOfUnseenOrganization({ type, organization_sync_key }: Omit<KeyedPlace, 'sync_key'>): boolean {
  return type !== 'organization' && organization_sync_key === null;
}

/** Whether a path or a folder above it is one of these. */
export function isWithinAny(path: string, folders: { has(path: string): boolean }): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    if (folders.has(path.slice(0, end))) return true;
  return false;
}

/** Paths without those that lie under another one of them, and without twins in another form of characters. */
export function outermost(paths: Iterable<string>): string[] {
  const byForm = new Map([...paths].map((path) => [path.normalize('NFC'), path]));
  return [...byForm].flatMap(([path, onDisk]) => {
    const above = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    return isWithinAny(above, byForm) ? [] : [onDisk];
  });
}
