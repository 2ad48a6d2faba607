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

/** Lists in which each item says itself of what kind its id is. */
export const RECIPIENTS_FIELD = 'recipients';

export const REFERENCE_NOT_FOUND = {
  node: 'NODE_NOT_FOUND',
  actor: 'ACTOR_NOT_FOUND',
  user: 'USER_NOT_FOUND',
  group: 'GROUP_NOT_FOUND',
} as const satisfies Record<ReferenceKind, ErrorCode>;

/** Codes with which a call is refused when nothing goes by what it names. */
export function referenceErrors({ input }: Pick<Operation, 'input'>): ErrorCode[] {
  const kinds = Object.keys(input.shape).flatMap((field): readonly ReferenceKind[] => {
    const kind = REFERENCE_FIELDS[field];
    if (field === RECIPIENTS_FIELD) return ['user', 'group'];
    return kind === undefined ? [] : [kind];
  });
  return [...new Set(kinds)].map((kind) => REFERENCE_NOT_FOUND[kind]);
}

/** What a caller sends in place of an id. */
export const ReferenceText = plainText(LIMITS.pathLength).trim().min(1, 'must not be empty');

/** Internal: surfaces ask it for what a caller names instead of giving ids, before they call the operation. */
export const resolveReferences = query({
  name: 'resolve_references',
  owner: 'graph',
  tier: 'internal',
  doc: 'Find what the caller names: a node by its path, such as kubernetes/areas/sig-network, an organization by its key; a user by e-mail, handle or the identity that the provider knows, an actor that is a user by the same, a group by its claim; each of them by a name that only one has, a user also by that of their actor. An ambiguous name is VALIDATION_FAILED with the candidates that the caller sees. Without manage nobody finds users but themselves, and no groups; actors by their names alone, but for oneself.',
  input: z.strictObject({
    references: z
      .array(
        z.strictObject({
          kind: ReferenceKind,
          text: ReferenceText,
          field: z.string().max(100).describe('Where in the call an error is.'),
        }),
      )
      .min(1)
      .max(LIMITS.referencesPerCall),
  }),
  output: z.strictObject({ ids: z.array(Id).describe('In the order of the references.') }),
  errors: Object.values(REFERENCE_NOT_FOUND),
});
