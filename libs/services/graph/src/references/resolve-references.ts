import {
  type Caller,
  type resolveReferences as operation,
  type ParsedInputOf,
  REFERENCE_NOT_FOUND,
  ReferenceKind,
  ServiceError,
  validationFailed,
} from '@workspace-graph/contracts';
import type { Database } from '@workspace-graph/database';
import { parseNodeFolder } from '@workspace-graph/domain';
import { actorNotFound } from '../actors/actor.repository.js';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { MOST_CANDIDATES, REFERENCES } from './reference.statements.js';

type Reference = ParsedInputOf<typeof operation>['references'][number];

interface Found extends Record<string, unknown> {
  /** Of the reference among those of its kind, from 1. */
  readonly place: number;
  readonly id: string;
  readonly told: string;
}

/** Candidates for each reference. */
type Candidates = ReadonlyMap<Reference, readonly Found[]>;

/**
 * The ids of what the caller names, in order.
 * @throws ServiceError of the first one that nothing goes by; VALIDATION_FAILED for names of several, with those that the caller sees
 */
export async function resolveReferences(
  database: Database,
  references: readonly Reference[],
  caller: Caller,
): Promise<string[]> {
  const candidates = await candidatesOf(database, references, caller);
  const ids = references.map((reference) => {
    const [found] = candidates.get(reference) ?? [];
    if (!found) throw notFound(reference);
    return found.id;
  });
  const ambiguous = references.filter((reference) => (candidates.get(reference)?.length ?? 0) > 1);
  if (ambiguous.length > 0)
    throw validationFailed(ambiguous.map((reference) => issueOf(reference, candidates.get(reference) ?? [])));
  return ids;
}

/** One statement for each kind that is asked for. */
async function candidatesOf(database: Database, references: readonly Reference[], caller: Caller): Promise<Candidates> {
  const candidates = new Map<Reference, Found[]>();
  await Promise.all(
    ReferenceKind.options.map(async (kind) => {
      const asked = references.filter((reference) => reference.kind === kind);
      if (asked.length === 0) return;
      const rows = await database.rows<Found>(REFERENCES[kind], [...seenBy(caller), ...columnsOf(asked)]);
      const byPlace = Map.groupBy(rows, ({ place }) => place);
      for (const [index, reference] of asked.entries()) candidates.set(reference, byPlace.get(index + 1) ?? []);
    }),
  );
  return candidates;
}

function columnsOf(references: readonly Reference[]): unknown[][] {
  const paths = references.map(({ kind, text }) => (kind === 'node' ? parseNodeFolder(text) : null));
  return [
    references.map(({ text }) => text),
    paths.map((path) => path?.organizationKey ?? null),
    paths.map((path) => path?.type ?? null),
    paths.map((path) => path?.key ?? null),
  ];
}

function notFound({ kind, text }: Reference): ServiceError {
  if (kind === 'node') return nodeNotFound(text);
  if (kind === 'actor') return actorNotFound(text);
  return new ServiceError(REFERENCE_NOT_FOUND[kind], `There is no ${kind} ${text}.`, { [`${kind}_id`]: text });
}

function issueOf({ kind, field }: Reference, found: readonly Found[]): { path: string; message: string } {
  const told = found.slice(0, MOST_CANDIDATES).map((each) => each.told);
  const more = found.length > MOST_CANDIDATES ? ' and more' : '';
  return { path: field, message: `names several ${kind}s; send one of ${told.join(', ')}${more}` };
}
