import { z } from 'zod';
import { Id, plainText } from './common.js';
import type { ErrorCode } from './errors.js';
import { LIMITS } from './limits.js';
import { type Operation, query } from './operation.js';

/** What can be named otherwise than by its id. */
export const ReferenceKind = z.enum(['node', 'actor', 'user', 'group']);
export type ReferenceKind = z.infer<typeof ReferenceKind>;

/** Fields of inputs that name one or several of these, in place of whose ids callers may send what they go by. */
export const REFERENCE_FIELDS: Readonly<Record<string, ReferenceKind>> = {
  node_id: 'node',
  organization_id: 'node',
  parent_id: 'node',
  parent_ids: 'node',
  node_ids: 'node',
  source_id: 'node',
  target_id: 'node',
  new_node_id: 'node',
  actor_id: 'actor',
  owner_id: 'actor',
  assignee_ids: 'actor',
  reassign_to: 'actor',
  user_id: 'user',
  add: 'user',
  remove: 'user',
  group_id: 'group',
};

/** Lists of objects that name something in one field: of that kind, or of the one that the object says in `kind`. */
export const REFERENCE_LISTS: Readonly<Record<string, { readonly field: string; readonly kind?: ReferenceKind }>> = {
  positions: { field: 'node_id', kind: 'node' },
  recipients: { field: 'id' },
};
/** What an object of such a list can be when it says that itself. */
export const RECIPIENT_KINDS = ['user', 'group'] as const satisfies readonly ReferenceKind[];

export const REFERENCE_NOT_FOUND = {
  node: 'NODE_NOT_FOUND',
  actor: 'ACTOR_NOT_FOUND',
  user: 'USER_NOT_FOUND',
  group: 'GROUP_NOT_FOUND',
} as const satisfies Record<ReferenceKind, ErrorCode>;

/** Where an input names something, and of what kinds that can be. */
export interface ReferenceField {
  /** Name of the field of the input; with `within`, of the list. */
  readonly field: string;
  /** What the field may refer to; one kind, except for recipients. */
  readonly kinds: readonly ReferenceKind[];
  /** The field of each object of the list. */
  readonly within?: string;
}

/** Every field of an input that takes names as well as ids. */
export function referenceFieldsOf({ input }: Pick<Operation, 'input'>): ReferenceField[] {
  return Object.keys(input.shape).flatMap((field): ReferenceField[] => {
    const [kind, list] = [REFERENCE_FIELDS[field], REFERENCE_LISTS[field]];
    if (list) return [{ field, kinds: list.kind ? [list.kind] : RECIPIENT_KINDS, within: list.field }];
    return kind === undefined ? [] : [{ field, kinds: [kind] }];
  });
}

/** Codes with which a call is refused when nothing goes by what it names. */
export function referenceErrors(operation: Pick<Operation, 'input'>): ErrorCode[] {
  const kinds = referenceFieldsOf(operation).flatMap((field) => field.kinds);
  return [...new Set(kinds)].map((kind) => REFERENCE_NOT_FOUND[kind]);
}

/** What a caller sends in place of an id. */
export const ReferenceText = plainText(LIMITS.pathLength).trim().min(1, 'must not be empty');

/** Internal: surfaces ask it for what a caller names instead of giving ids, before they call the operation. */
export const resolveReferences = query({
  name: 'resolve_references',
  owner: 'graph',
  tier: 'internal',
  overLink: 'read',
  reach: 'internal',
  doc: 'Resolve references to ids: a node by its path, such as kubernetes/areas/sig-network, an organization by its key; a key without a path when no name equals it; a user by e-mail, handle (also as @handle) or identity at the provider, an actor with a user by the same, a group by its claim; each of them by a unique name, a user also by that of their actor. An ambiguous reference fails with VALIDATION_FAILED and the candidates that the caller sees; if nothing matches, the first such reference decides the code. details.issues lists all problems. Without manage, callers find no groups, no users except themselves, and other actors only by name.',
  input: z.strictObject({
    references: z
      .array(
        z.strictObject({
          kind: ReferenceKind,
          text: ReferenceText,
          field: z.string().max(100).describe('Field of the call that an error names.'),
        }),
      )
      .min(1)
      .max(LIMITS.referencesPerCall),
  }),
  output: z.strictObject({ ids: z.array(Id).describe('In the order of the references.') }),
  errors: Object.values(REFERENCE_NOT_FOUND),
});
