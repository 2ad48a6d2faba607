import { z } from 'zod';
import { Id } from './common.js';

/** What the services tell each other after a commit. Events tell, they do not steer. */
export const BUS_EVENTS = {
  /**
   * Something drawn or listed has changed, of these nodes; what concerns too many is told in several events. So that nobody
   * is told of what they do not see: the first `own` of `node_ids` (all, where it is absent) have changed themselves, the
   * others for those alone who see both ends of an edge of `edges`. `gone` is a node of them that is there no more.
   */
  'graph.changed': z.strictObject({
    node_ids: z.array(Id),
    action: z.string(),
    own: z.int().nonnegative().optional(),
    edges: z.array(z.tuple([Id, Id])).optional(),
    gone: z
      .strictObject({ node_id: Id, seen_by: z.array(Id).nullable().describe('Users who saw it; null: everybody.') })
      .optional(),
  }),
  /**
   * Who may see what has changed. `node_ids` are the nodes whose own sharing, owner or parents changed; what belongs to
   * them may have changed as well, and where people moved between groups, or where there are too many, there are none. So whoever holds something open
   * looks at all of it again. `user_ids` are those who may see more or less than before; where they are too many for one
   * event, there are several.
   */
  'access.changed': z.strictObject({ node_ids: z.array(Id), user_ids: z.array(Id).optional() }),
  /** Records of files of this node have changed. */
  'file.changed': z.strictObject({ node_id: Id }),
  /**
   * What a device reports of the folder of this node has changed: its scan, how far that is, what could not be taken in. Told
   * within the process of the device alone.
   */
  'sync.changed': z.strictObject({ node_id: Id }),
  /** The log of a session has grown up to this seq. */
  'session.appended': z.strictObject({ session_id: Id, last_seq: z.int() }),
  /** What is shown of a session has changed: its state, its questions, its run, its name. */
  'session.changed': z.strictObject({ session_id: Id, node_id: Id.nullable(), owner_id: Id }),
  /** An agent is writing; kept nowhere, and told once at most. */
  'session.delta': z.strictObject({ session_id: Id, run_id: Id, text: z.string() }),
  /** A credential, or with credential_id null every credential of the user, has ended. */
  'credential.ended': z.strictObject({ user_id: Id, credential_id: Id.nullable() }),
} as const;
export type BusEventType = keyof typeof BUS_EVENTS;
export type BusEventPayload<T extends BusEventType> = z.infer<(typeof BUS_EVENTS)[T]>;
