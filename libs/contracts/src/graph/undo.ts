import { z } from 'zod';
import { Confirmed, Id, Timestamp } from '../common.js';
import { LIMITS } from '../limits.js';
import { command } from '../operation.js';
import { SESSION_TAG as tag } from '../session/session.js';
import { NodeRef } from './nodes.js';

/** Why a change of a session stays. */
export const KeptReason = z.enum([
  'already',
  'changed_since',
  'built_on',
  'gone',
  'moves_access',
  'forbidden',
  'not_undoable',
]);
export type KeptReason = z.infer<typeof KeptReason>;

/** A change that a session made, and what its undo does with it. */
export const UndoneChange = z.strictObject({
  at: Timestamp,
  seq: z.int().nullable().describe('Of the call in the log of the session.'),
  action: z.string().describe('Name of the operation that changed it.'),
  target_kind: z.string(),
  target_id: Id,
  node: NodeRef.nullable().describe('Whose it is; null for an actor.'),
  undone: z.boolean(),
  fields: z.array(z.string()).describe('Fields that get their former value back; empty for a whole record.'),
  kept: KeptReason.nullable().describe(
    'already: it is as it was before. changed_since: it no longer is as the session left it. built_on: others use it. gone: it was removed. moves_access: it decides who sees what. forbidden: you may not change it. not_undoable: there is no way back by itself.',
  ),
});
export type UndoneChange = z.infer<typeof UndoneChange>;

export const undoSession = command({
  name: 'undo_session',
  owner: 'graph',
  tier: 'write',
  reach: { session_id: 'write' },
  doc: 'Take back what a session changed in the graph, the last change first, where nothing was built on it. Nodes that it made are archived, files stay. Without confirmed, answers what would happen and changes nothing. For the owner and for manage.',
  input: z.strictObject({
    session_id: Id,
    from_seq: z.int().min(1).optional().describe('Only changes from this event of its log on.'),
    to_seq: z.int().min(1).optional().describe('Only changes up to this event of its log.'),
    confirmed: Confirmed,
  }),
  output: z.strictObject({
    applied: z.boolean().describe('False for a preview.'),
    undone: z.int(),
    kept: z.int(),
    complete: z
      .boolean()
      .describe(
        `False when there are more than the last ${LIMITS.undoChanges} changes; then go on with the seq of the last one here as to_seq.`,
      ),
    changes: z.array(UndoneChange).describe('The last one first; of nodes that you see.'),
  }),
  errors: ['SESSION_NOT_FOUND', 'SESSION_FORBIDDEN'],
  // Each of the changes is taken back by the statements of a change of its own.
  timeoutMs: 60_000,
  rest: { method: 'POST', path: '/sessions/{session_id}/undo', tag },
  mcp: {
    tool: 'svc_undo_session',
    title: 'Undo a session',
    more: 'svc_undo_session with to_seq: the seq of the last change here, for those before it',
  },
});
