import { z } from 'zod';
import { Id } from './common.js';
import { LIMITS } from './limits.js';

/** Those for whom a process that holds their connections reads something. */
export const viewers = {
  viewers: z
    .array(z.strictObject({ user_id: Id, sees_all: z.boolean() }))
    .max(LIMITS.viewersPerRead)
    .describe('On whose behalf; told by their places in this list.'),
};
export const Places = z.array(z.int().nonnegative()).max(LIMITS.viewersPerRead);
