import { z } from 'zod';
import { Id } from '../common.js';

const Gain = z.strictObject({
  user_id: Id,
  user_name: z.string(),
  node_count: z.int().describe('Number of nodes whose access changes for this user.'),
  sample: z.array(z.strictObject({ node_id: Id, node_name: z.string() })).describe('Up to ten of them.'),
});

/**
 * Who gains and who loses access if a change is carried out: enabled users, as credentials of theirs below `manage` see;
 * a credential with `manage` sees everything anyway. Nodes that the change creates or purges are left out.
 */
export const AccessPreview = z.strictObject({
  widens: z.boolean().describe('True when somebody gains access: the change then needs confirmed: true.'),
  gains: z.array(Gain).describe('Users who gain read or write access.'),
  loses: z.array(Gain).describe('Users who lose read or write access.'),
  opens_to_everyone: z.int().describe('Nodes that become open to every user, present and future.'),
  complete: z.boolean().describe('False when more than 500 users are affected: the lists then show the first 500.'),
});
export type AccessPreview = z.infer<typeof AccessPreview>;

/** The answer of a change that can move access. */
export function changed<K extends string, T extends z.ZodType>(key: K, record: T) {
  return z.strictObject({
    applied: z.boolean().describe('False when the change needs confirmed: true.'),
    preview: AccessPreview.nullable().describe('Null when the change does not affect access.'),
    [key]: record,
  } as { applied: z.ZodBoolean; preview: z.ZodNullable<typeof AccessPreview> } & Record<K, T>);
}
