import type { Caller, EventStatus, listEvents, ParsedInputOf, RawJson } from '@workspace-graph/contracts';
import { type Database, LAST_ID, type Statement } from '@workspace-graph/database';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { EARLIEST, LATEST } from '../shared/time.js';
import { EVENT_CURSOR, EVENTS_OF_ALL, EVENTS_OF_NODE, EVENTS_OF_SESSION } from './event.statements.js';

type Input = ParsedInputOf<typeof listEvents>;

/** Statuses of the timeline as it is read day by day. */
const CURRENT: readonly EventStatus[] = ['active', 'resolved'];

/**
 * Answers one page of events, newest first: of a node, or of all; in a session, of what it holds.
 * @throws ServiceError NODE_NOT_FOUND when the node is absent or hidden
 */
export async function list(database: Database, input: Input, caller: Caller): Promise<RawJson> {
  const values = [
    ...seenBy(caller),
    input.limit,
    ...EVENT_CURSOR.read(input.cursor, [LATEST, LAST_ID]),
    input.from ?? EARLIEST,
    input.to ?? LATEST,
    input.status ?? CURRENT,
    input.kind ?? null,
  ];
  const [statement, about] = placeOf(input, caller);
  const answer = await database.json(statement, about === undefined ? values : [...values, about]);
  if (answer) return answer;
  if (input.node_id === undefined) throw new Error('A list returns one row');
  throw nodeNotFound(input.node_id);
}

function placeOf({ node_id }: Input, { session_id }: Caller): [Statement, string?] {
  if (node_id !== undefined) return [EVENTS_OF_NODE, node_id];
  return session_id ? [EVENTS_OF_SESSION, session_id] : [EVENTS_OF_ALL];
}
