import type { SnapshotAnswer, SnapshotContent } from './snapshot-content.js';

type Columns = SnapshotAnswer['nodes'];
type EdgeOfIds = SnapshotAnswer['edges_added'][number];
export type Delta = Pick<SnapshotAnswer, 'nodes' | 'organizations' | 'edges_added' | 'edges_removed' | 'removed'>;

const COLUMNS = [
  'id',
  'name',
  'type',
  'lifecycle',
  'health',
  'organization',
  'x',
  'y',
] as const satisfies readonly (keyof Columns)[];
/** Columns that are compared as they stand; organizations are compared by id. */
const VALUES = ['name', 'type', 'lifecycle', 'health', 'x', 'y'] as const satisfies readonly (keyof Columns)[];

/**
 * What leads from one content to another. Both have their nodes in the order of ids and their edges in the order of
 * rows, so that one walk over both finds everything.
 */
export function deltaOf(before: SnapshotContent, after: SnapshotContent): Delta {
  const walk = walkNodes(before, after);
  const edges = walkEdges({ content: before, common: walk.commonBefore }, { content: after, common: walk.commonAfter });
  return {
    nodes: rowsOf(after.nodes, walk.changed),
    organizations: after.organizations,
    ...edges,
    removed: walk.removed,
  };
}

interface NodeWalk {
  /** Rows of `after` that are new or differ. */
  readonly changed: readonly number[];
  readonly removed: string[];
  /** Place of each row in the sorted union of both. */
  readonly commonBefore: Int32Array;
  readonly commonAfter: Int32Array;
}

function walkNodes(before: SnapshotContent, after: SnapshotContent): NodeWalk {
  const [was, is] = [before.nodes.id, after.nodes.id];
  const commonBefore = new Int32Array(was.length);
  const commonAfter = new Int32Array(is.length);
  const changed: number[] = [];
  const removed: string[] = [];
  for (let i = 0, j = 0, place = 0; i < was.length || j < is.length; place += 1) {
    const order = compareIds(was[i], is[j]);
    if (order === 0 ? differs(before, i, after, j) : order > 0) changed.push(j);
    if (order < 0) removed.push(was[i] ?? '');
    if (order <= 0) commonBefore[i++] = place;
    if (order >= 0) commonAfter[j++] = place;
  }
  return { changed, removed, commonBefore, commonAfter };
}

/** Negative when `a` comes first; the end of a list comes last. */
function compareIds(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  return b === undefined || a < b ? -1 : 1;
}

function differs(before: SnapshotContent, i: number, after: SnapshotContent, j: number): boolean {
  return (
    VALUES.some((column) => before.nodes[column][i] !== after.nodes[column][j]) ||
    organizationOf(before, i) !== organizationOf(after, j)
  );
}

function organizationOf({ nodes, organizations }: SnapshotContent, row: number): string | undefined {
  return organizations[nodes.organization[row] ?? -1];
}

function rowsOf(columns: Columns, rows: readonly number[]): Columns {
  const picked = COLUMNS.map((column) => [column, rows.map((row) => columns[column][row])]);
  return Object.fromEntries(picked) as Columns;
}

interface EdgeSide {
  readonly content: SnapshotContent;
  readonly common: Int32Array;
}

function walkEdges(before: EdgeSide, after: EdgeSide): Pick<Delta, 'edges_added' | 'edges_removed'> {
  const [was, is] = [before.content.edges, after.content.edges];
  const added: EdgeOfIds[] = [];
  const removed: EdgeOfIds[] = [];
  for (let i = 0, j = 0; i < was.length || j < is.length; ) {
    const order = compareEdges(before, i, after, j);
    if (order < 0) removed.push(edgeAt(before.content, i));
    if (order > 0) added.push(edgeAt(after.content, j));
    if (order <= 0) i += 3;
    if (order >= 0) j += 3;
  }
  return { edges_added: added, edges_removed: removed };
}

/** Negative when the edge at `i` comes first; the end of a list comes last. */
function compareEdges(before: EdgeSide, i: number, after: EdgeSide, j: number): number {
  if (i >= before.content.edges.length) return 1;
  if (j >= after.content.edges.length) return -1;
  for (let part = 0; part < 3; part += 1) {
    const [a, b] = [before.content.edges[i + part] ?? 0, after.content.edges[j + part] ?? 0];
    const order = part === 2 ? a - b : (before.common[a] ?? 0) - (after.common[b] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}

function edgeAt({ nodes, edges }: SnapshotContent, at: number): EdgeOfIds {
  return [nodes.id[edges[at] ?? 0] ?? '', nodes.id[edges[at + 1] ?? 0] ?? '', edges[at + 2] ?? 0];
}
