import {
  GraphDocument,
  issueOf,
  LIMITS,
  tryInput,
  type ValidationIssue,
  validationFailed,
} from '@workspace-graph/contracts';
import { jsonDepth } from '@workspace-graph/domain';
import type { z } from 'zod';

/** A document as far as it can be read, with what is wrong in the rest of it. */
export interface ParsedDocument {
  readonly document: GraphDocument;
  /** What cannot be read; with any of it nothing is written. */
  readonly issues: readonly ValidationIssue[];
  /** The path in the document that was sent, for a path in the document that was read; null within an unreadable record. */
  readonly pathSent: (path: string) => string | null;
}

type Path = readonly PropertyKey[];
type Container = Record<PropertyKey, unknown>;

const ATTEMPTS = 8;
/** Lists to whose records nothing else refers: one that cannot be read is left out. */
const ALONE = new Set<PropertyKey>(['edges', 'files', 'access_requests', 'audit']);
/** Without these of a record nobody can tell what is right in others. */
const TELLING = new Set<PropertyKey>(['key', 'id', 'type', 'organization']);

/**
 * Reads a document. Where parts of it cannot be read, they are left out, so that the rest can be examined too and all
 * problems be told at once.
 * @throws ServiceError VALIDATION_FAILED when too little is left to say anything of the rest
 */
export function parseDocument(bytes: Buffer): ParsedDocument {
  if (jsonDepth(bytes) > LIMITS.jsonDepth)
    throw validationFailed([{ path: '', message: `the document is nested deeper than ${LIMITS.jsonDepth} levels` }]);
  const sent = parseJson(decodeUtf8(bytes));
  const result = tryInput(GraphDocument, sent);
  if (result.success) return { document: result.data, issues: [], pathSent: (path) => path };
  const issues = result.error.issues.map(issueOf);
  const readable = readablePart(sent, result.error.issues);
  if (!readable) throw validationFailed(issues);
  return { ...readable, issues };
}

/** What is left when everything is taken out that cannot be read, as little as possible. */
function readablePart(sent: unknown, problems: readonly z.core.$ZodIssue[]): Omit<ParsedDocument, 'issues'> | null {
  const rest = structuredClone(sent) as Container;
  const gaps = new Set<string>();
  let found = problems;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    for (const problem of found) if (!takeOut(rest, problem, gaps)) return null;
    const { document, places } = withoutHoles(rest);
    const result = GraphDocument.safeParse(document);
    if (result.success) return { document: result.data, pathSent: (path) => pathSent(path, { places, gaps }) };
    found = result.error.issues.map((issue) => ({ ...issue, path: placedPath(issue.path, places) }));
  }
  return null;
}

/** False when that would take too much. */
function takeOut(rest: Container, problem: z.core.$ZodIssue, gaps: Set<string>): boolean {
  const { path } = problem;
  const wrong = problem.code === 'unrecognized_keys' ? problem.keys.map((key) => [...path, key]) : [path];
  return wrong.every((each) => {
    const cut = cutFor(rest, each);
    if (!cut) return false;
    const holder = at(rest, cut.slice(0, -1)) as Container;
    const last = cut.at(-1) ?? '';
    if (Array.isArray(holder)) holder[Number(last)] = undefined;
    else delete holder[last];
    gaps.add(cut.slice(0, 2).map(String).join('.'));
    return true;
  });
}

/**
 * What to take out for a wrong place: itself, or what holds it where it is in a list or was taken out already, since
 * then it is needed there.
 */
function cutFor(rest: Container, path: Path): Path | null {
  const [list = '', , member = ''] = path;
  let end = TELLING.has(member) ? 2 : path.length;
  while (end > 2 && (isGone(rest, path.slice(0, end)) || Array.isArray(at(rest, path.slice(0, end - 1))))) end -= 1;
  return end > 2 || (end === 2 && path.length >= 2 && ALONE.has(list)) ? path.slice(0, end) : null;
}

function isGone(rest: Container, path: Path): boolean {
  const holder = at(rest, path.slice(0, -1));
  return typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, path.at(-1) ?? '');
}

function at(value: unknown, path: Path): unknown {
  let found = value;
  for (const name of path) found = (found as Container | null | undefined)?.[name];
  return found;
}

/** Lists without the records that were taken out, and at which place each record of them was sent. */
function withoutHoles(rest: Container): { document: Container; places: ReadonlyMap<string, readonly number[]> } {
  const places = new Map<string, readonly number[]>();
  const document = { ...rest };
  for (const list of ALONE) {
    const records = rest[list];
    if (!Array.isArray(records)) continue;
    const kept = records.flatMap((record, index) => (record === undefined ? [] : [index]));
    places.set(String(list), kept);
    document[list] = kept.map((index): unknown => records[index]);
  }
  return { document, places };
}

function placedPath([list, index, ...rest]: Path, places: ReadonlyMap<string, readonly number[]>): PropertyKey[] {
  if (list === undefined || index === undefined) return list === undefined ? [] : [list];
  return [list, places.get(String(list))?.[Number(index)] ?? index, ...rest];
}

function pathSent(
  path: string,
  { places, gaps }: { readonly places: ReadonlyMap<string, readonly number[]>; readonly gaps: ReadonlySet<string> },
): string | null {
  const [list, index, ...rest] = placedPath(path.split('.'), places).map(String);
  if (list === undefined || index === undefined) return path;
  return gaps.has(`${list}.${index}`) ? null : [list, index, ...rest].join('.');
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    const error = validationFailed([{ path: '', message: 'the document must be UTF-8 text' }]);
    throw Object.assign(error, { cause });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw Object.assign(
      validationFailed([{ path: '', message: `the document is not JSON: ${(cause as Error).message}` }]),
      { cause },
    );
  }
}
