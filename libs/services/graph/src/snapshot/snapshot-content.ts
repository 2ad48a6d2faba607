import { createHash } from 'node:crypto';
import { Lifecycle, NODE_TYPES, Relation, type Snapshot } from '@workspace-graph/contracts';
import type { z } from 'zod';
import type { SnapshotRow } from './snapshot.statements.js';

export type SnapshotAnswer = z.infer<typeof Snapshot>;
/** The part of an answer that the token stands for. */
export type SnapshotContent = Pick<SnapshotAnswer, 'nodes' | 'organizations' | 'edges'>;

/** A graph as some caller sees it. */
export interface RememberedContent {
  /** The same for equal contents, whoever sees them. */
  readonly token: string;
  /** JSON members of SnapshotContent, UTF-8, without the braces. */
  readonly members: Buffer;
}

const LEGEND = `"types":${JSON.stringify(NODE_TYPES)},"lifecycles":${JSON.stringify(Lifecycle.options)},"relations":${JSON.stringify(Relation.options)}`;
const TOKEN_BYTES = 18;

/** Puts the columns together and names them by their hash. */
export function contentOf(row: SnapshotRow): RememberedContent {
  const nodes =
    `{"id":${row.id},"name":${row.name},"type":${row.type},"lifecycle":${row.lifecycle},"health":${row.health},` +
    `"organization":${row.organization},"x":${row.x},"y":${row.y}}`;
  const members = Buffer.from(`"nodes":${nodes},"organizations":${row.organizations},"edges":${row.edges}`);
  return {
    token: createHash('sha256').update(members).digest().subarray(0, TOKEN_BYTES).toString('base64url'),
    members,
  };
}

/** The whole answer of a content. */
export function fullAnswer({ token, members }: RememberedContent): string {
  return `{"token":"${token}","full":true,${LEGEND},${members.toString()},"edges_added":[],"edges_removed":[],"removed":[]}`;
}

/** The answer that leads from an earlier content to the one with this token. */
export function deltaAnswer(
  token: string,
  delta: Pick<SnapshotAnswer, 'nodes' | 'organizations' | 'edges_added' | 'edges_removed' | 'removed'>,
): string {
  return `{"token":"${token}","full":false,${LEGEND},"edges":[],${JSON.stringify(delta).slice(1)}`;
}

/** The columns of a content. */
export function parseContent({ members }: RememberedContent): SnapshotContent {
  return JSON.parse(`{${members.toString()}}`) as SnapshotContent;
}
