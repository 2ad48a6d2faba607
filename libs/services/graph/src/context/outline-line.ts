import type { ContextNode } from '@workspace-graph/contracts';
import type { z } from 'zod';
import type { ContextRow } from './context.statements.js';

type Edge = z.infer<typeof ContextNode>['via'][number];

const EDGES_TOLD = 2;

/** One node of the outline in one line. `references` are those of nodes by id. */
export function outlineLine(row: ContextRow, rootId: string, references: ReadonlyMap<string, string>): string {
  const {
    name,
    lifecycle,
    health,
    health_note: note,
    via,
    owner,
  } = JSON.parse(row.json ?? 'null') as z.infer<typeof ContextNode>;
  const reference = row.reference ?? '';
  const organization = `${reference.split('/')[0] ?? ''}/`;
  const edges = via.slice(0, EDGES_TOLD).map((edge) => {
    const nearer = edge.from === rootId ? '' : ` ${references.get(edge.from)?.replace(organization, '') ?? edge.from}`;
    return `${arrowOf(edge)}${edge.relation}${nearer}`;
  });
  const facts = [
    name,
    lifecycle,
    health === 'on_track' ? null : health && withNote(health, note),
    ...edges,
    via.length > EDGES_TOLD ? `and ${via.length - EDGES_TOLD} more edges` : null,
    row.parents && row.parents.length > 0 ? `in ${row.parents.join(' and ')}` : null,
    owner === null ? null : `owner ${owner}`,
  ];
  return `${reference}: ${facts.filter((fact) => fact !== null).join(', ')}`;
}

function withNote(health: string, note: string | null): string {
  const line = note?.replace(/\s+/gu, ' ').trim();
  return line ? `${health} (${line})` : health;
}

function arrowOf({ direction }: Edge): string {
  return direction === 'outgoing' ? '>' : '<';
}
