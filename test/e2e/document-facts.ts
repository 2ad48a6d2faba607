import { readFileSync } from 'node:fs';
import type { GraphDocument } from '@workspace-graph/contracts';
import type { z } from 'zod';

type Document = z.input<typeof GraphDocument>;

/** What a document says of a node: what reading the node must show. */
export interface NodeFacts {
  readonly responsibilities: readonly string[];
  /** Names of what belongs to it, in order. */
  readonly parts: readonly string[];
  /** Of the node itself, else of its parts. */
  readonly milestones: readonly string[];
}

/** @throws Error when the document has no such node */
export function factsOf(file: string, name: string): NodeFacts {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Document;
  const node = document.nodes.find((candidate) => candidate.name === name);
  if (!node) throw new Error(`${file} has no node named ${name}`);
  const parts = (document.edges ?? [])
    .filter((edge) => edge.to === node.key && edge.relation === 'belongs_to')
    .map((edge) => edge.from);
  const own = milestonesOf(document, [node.key]);
  return {
    responsibilities: (node.responsibilities ?? []).map(({ title }) => title),
    parts: document.nodes.flatMap((part) => (parts.includes(part.key) ? [part.name] : [])).sort(),
    milestones: own.length > 0 ? own : milestonesOf(document, parts),
  };
}

function milestonesOf({ events = [] }: Document, keys: readonly string[]): string[] {
  return events
    .filter((event) => event.kind === 'milestone' && keys.includes(event.node))
    .map(({ content }) => content)
    .sort();
}
