import { type KeptReason, type NodeRef, ServiceError } from '@workspace-graph/contracts';

/** A line of the audit trail that a session wrote. */
export interface Change {
  readonly id: string;
  /** Whether an undo has taken it back as a whole. */
  readonly is_undone: boolean;
  /** False where an agent asks whose session does not hold the nodes for changing them. */
  readonly is_within: boolean;
  readonly at: string;
  readonly seq: number | null;
  readonly action: string;
  readonly target_kind: string;
  readonly target_id: string;
  readonly before: Fields | null;
  readonly after: Fields | null;
  readonly node: NodeRef | null;
}

export type Fields = Readonly<Record<string, unknown>>;

/** A change stays as it is. */
export class Kept extends ServiceError {
  constructor(readonly reason: KeptReason) {
    super('CONFLICT', `The change stays: ${reason}.`);
    this.name = 'Kept';
  }
}

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Names of the fields that a change gave other values. */
export function changedIn({ before, after }: Pick<Change, 'before' | 'after'>): string[] {
  return Object.keys(after ?? {})
    .filter((field) => !isSame(before?.[field], after?.[field]))
    .toSorted();
}

/**
 * Names of the fields that still are as a change left them, to be set back.
 * @throws Kept when none is
 */
export function fieldsToSetBack({ before, after }: Pick<Change, 'before' | 'after'>, now: Fields): string[] {
  const changed = changedIn({ before, after });
  const untouched = changed.filter((field) => isSame(now[field], after?.[field]));
  if (untouched.length > 0) return untouched;
  throw new Kept(changed.every((field) => isSame(now[field], before?.[field])) ? 'already' : 'changed_since');
}

/** Some fields of what was before. */
export function formerValues({ before }: Pick<Change, 'before'>, fields: readonly string[]): Fields {
  return Object.fromEntries(fields.map((field) => [field, before?.[field] ?? null]));
}
