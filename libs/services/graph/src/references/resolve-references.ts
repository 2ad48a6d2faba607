import {
  type Caller,
  LIMITS,
  type ParsedInputOf,
  REFERENCE_NOT_FOUND,
  ReferenceKind,
  type resolveReferences,
  ServiceError,
  type ValidationIssue,
  validationFailed,
} from '@workspace-graph/contracts';
import type { Database } from '@workspace-graph/database';
import { parseNodeFolder } from '@workspace-graph/domain';
import { actorNotFound } from '../actors/actor.repository.js';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { MOST_CANDIDATES, REFERENCES } from './reference.statements.js';

type Reference = ParsedInputOf<typeof resolveReferences>['references'][number];

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
 * @throws ServiceError with all that cannot be told: the code of the first one that nothing goes by, VALIDATION_FAILED
 * where every one is a name of several, with those that the caller sees
 */
export async function resolve(database: Database, references: readonly Reference[], caller: Caller): Promise<string[]> {
  const candidates = await candidatesOf(database, references, caller);
  const ids = references.flatMap((reference) => {
    const [found, ...others] = candidates.get(reference) ?? [];
    return found && others.length === 0 ? [found.id] : [];
  });
  if (ids.length < references.length) throw refusalOf(references, candidates);
  return ids;
}

/** One missing name is told as its own refusal; of several problems all are told, up to a limit. */
function refusalOf(references: readonly Reference[], candidates: Candidates): ServiceError {
  const wrong = references.filter((reference) => candidates.get(reference)?.length !== 1);
  const missing = wrong.find((reference) => candidates.get(reference)?.length === 0);
  const issues = wrong
    .slice(0, LIMITS.referenceIssues)
    .map((reference) => issueOf(reference, candidates.get(reference) ?? []));
  const refusal = validationFailed(issues, wrong.length);
  if (!missing) return refusal;
  const { code, message, details } = notFound(missing);
  return new ServiceError(code, wrong.length === 1 ? message : refusal.message, { ...details, ...refusal.details });
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

function issueOf(reference: Reference, found: readonly Found[]): ValidationIssue {
  const { kind, field } = reference;
  if (found.length === 0) return { path: field, message: notFound(reference).message };
  const told = found.slice(0, MOST_CANDIDATES).map((each) => each.told);
  const more = found.length > MOST_CANDIDATES ? ' and more' : '';
  return { path: field, message: `names several ${kind}s; send one of ${told.join(', ')}${more}` };
}
