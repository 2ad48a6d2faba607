import type { GraphDocument, ValidationIssue } from '@workspace-graph/contracts';
import { parseFilePath, pathKey } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';
import type { ExistingFile } from './existing.js';
import type { Row } from './import-rows.js';
import type { KeyIndex } from './key-index.js';

type DocumentFile = GraphDocument['files'][number];

interface FileGround {
  readonly existing: readonly ExistingFile[];
  readonly nodes: KeyIndex;
  readonly users: KeyIndex;
  /** Takes the problems that are found. */
  readonly issues: ValidationIssue[];
}

/**
 * Rows of the files that are new. A file that is there already, by its id or by its path, keeps its own record: what is
 * on disk decides about that, and not a document.
 */
export function planFiles(files: readonly DocumentFile[], ground: FileGround): Row[] {
  const planner = new FilePlanner(ground);
  return files.flatMap((file, index) => planner.rowOf(file, `files.${index}`));
}

class FilePlanner {
  private readonly known: ReadonlySet<string>;
  /** Path of each taken place. */
  private readonly taken: Map<string, string>;
  private readonly ids = new Set<string>();
  private readonly places = new Set<string>();

  constructor(private readonly ground: FileGround) {
    this.known = new Set(ground.existing.map(({ id }) => id));
    this.taken = new Map(ground.existing.map(({ node_id, path }) => [placeOf(node_id, pathKey(path)), path]));
  }

  rowOf(file: DocumentFile, at: string): Row[] {
    const { nodes, users, issues } = this.ground;
    const nodeId = nodes.reference(file.node, `${at}.node`, issues);
    const createdBy = users.reference(file.created_by, `${at}.created_by`, issues);
    const updatedBy = users.reference(file.updated_by, `${at}.updated_by`, issues);
    const parsed = parseFilePath(file.path);
    if ('problem' in parsed) issues.push({ path: `${at}.path`, message: parsed.problem });
    if (nodeId === null || 'problem' in parsed || this.isRepeated(file, at)) return [];
    const { path } = parsed.value;
    const key = pathKey(path);
    if (!this.isNew(file, { place: placeOf(nodeId, key), path }, at)) return [];
    return [
      {
        ...file,
        id: file.id ?? newId(),
        node: undefined,
        node_id: nodeId,
        path,
        path_key: key,
        created_by: createdBy,
        updated_by: updatedBy,
      },
    ];
  }

  private isRepeated({ id }: DocumentFile, at: string): boolean {
    if (id === undefined) return false;
    const isRepeated = this.ids.has(id);
    this.ids.add(id);
    if (isRepeated) this.ground.issues.push({ path: `${at}.id`, message: 'is the id of another file of the document' });
    return isRepeated;
  }

  private isNew({ id }: DocumentFile, { place, path }: { place: string; path: string }, at: string): boolean {
    const { issues } = this.ground;
    const isTwice = this.places.has(place);
    this.places.add(place);
    if (isTwice) {
      issues.push({
        path: `${at}.path`,
        message: 'is the path of another file of the document, or differs from it by case or form alone',
      });
      return false;
    }
    if (id !== undefined && this.known.has(id)) return false;
    const there = this.taken.get(place);
    if (there !== undefined && there !== path)
      issues.push({
        path: `${at}.path`,
        message: `differs by case or form alone from "${there}", which is tracked already`,
      });
    return there === undefined;
  }
}

function placeOf(nodeId: string, key: string): string {
  return `${nodeId} ${key}`;
}
