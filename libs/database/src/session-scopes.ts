import { type Caller, expandHint, type Reached, ServiceError } from '@workspace-graph/contracts';
import type { SessionScopes } from '@workspace-graph/platform';
import type { Database } from './database.js';
import { statement } from './statement.js';
import { seenBy } from './visibility.js';

interface Outside extends Record<string, unknown> {
  readonly home_node_id: string | null;
  readonly state: string;
  readonly node_ids: readonly string[];
  readonly is_write: boolean;
}

/** Reads the scopes of sessions at each call: what a person takes away is gone with the next one. */
export class DatabaseScopes implements SessionScopes {
  constructor(private readonly database: Pick<Database, 'row'>) {}

  async admit(caller: Caller & { readonly session_id: string }, reached: readonly Reached[]): Promise<string | null> {
    const outside = await this.database.row<Outside>(OUT_OF_SCOPE, [
      caller.session_id,
      ...seenBy(caller),
      reached.map(({ kind }) => kind),
      reached.map(({ id }) => id),
      reached.map(({ access }) => access === 'write'),
    ]);
    if (!outside)
      throw new ServiceError('SESSION_NOT_FOUND', `There is no session ${caller.session_id} that you may see.`, {
        session_id: caller.session_id,
      });
    if (outside.state !== 'running')
      throw new ServiceError(
        'NO_LIVE_RUN',
        `This session is ${outside.state}: its agent can do nothing in it until it runs again.`,
        {
          session_id: caller.session_id,
          state: outside.state,
        },
      );
    const [first] = outside.node_ids;
    if (first !== undefined) throw expansionRequired(first, outside);
    return outside.home_node_id;
  }
}

function expansionRequired(nodeId: string, { node_ids, is_write }: Outside): ServiceError {
  const access = is_write ? 'write' : 'read';
  const hint = expandHint(node_ids, access);
  const which = node_ids.length === 1 ? `The node ${nodeId} is` : `${node_ids.length} nodes are`;
  return new ServiceError('scope_expansion_required', `${which} outside this session's ${access} scope. ${hint}`, {
    node_id: nodeId,
    node_ids,
    access,
    hint,
  });
}

/** $1 session, $2 user, $3 sees all, $4 kinds, $5 ids, $6 whether each is to be changed. */
const OUT_OF_SCOPE = statement(
  'session_scope.outside',
  `
  SELECT o.home_node_id::text AS home_node_id, o.state, o.node_ids::text[] AS node_ids, o.is_write
  FROM session.out_of_scope($1::uuid, $2::uuid, $3::boolean, $4::text[], $5::uuid[], $6::boolean[]) o`,
);
