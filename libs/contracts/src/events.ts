import { z } from 'zod';
import { Id } from './common.js';

/** What the services tell each other after a commit. Events tell, they do not steer. */
export const BUS_EVENTS = {
  /** Something drawn or listed has changed; no `node_ids` where it is too many nodes to name. */
  'graph.changed': z.strictObject({ node_ids: z.array(Id), action: z.string() }),
  /**
   * Who may see what has changed. `node_ids` are the nodes whose own sharing, owner or parents changed; what belongs to
   * them may have changed as well, and where people moved between groups, or where there are too many, there are none. So whoever holds something open
   * looks at all of it again.
   */
  'access.changed': z.strictObject({ node_ids: z.array(Id) }),
  /** Records of files of this node have changed. */
  'file.changed': z.strictObject({ node_id: Id }),
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
