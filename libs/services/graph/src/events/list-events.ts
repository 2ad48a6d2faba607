import type { Caller, EventStatus, listEvents, ParsedInputOf, RawJson } from '@workspace-graph/contracts';
import { type Database, LAST_ID } from '@workspace-graph/database';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { homeOf } from '../shared/home.js';
import { EARLIEST, LATEST } from '../shared/time.js';
import { EVENT_CURSOR, EVENTS_AROUND, EVENTS_OF_ALL, EVENTS_OF_NODE } from './event.statements.js';

type Input = ParsedInputOf<typeof listEvents>;

/** Statuses of the timeline as it is read day by day. */
const CURRENT: readonly EventStatus[] = ['active', 'resolved'];

/**
 * Answers one page of events, newest first.
 * @throws ServiceError NODE_NOT_FOUND when the node, or the home node whose surroundings are asked for, is absent or hidden
 */
export async function list(database: Database, input: Input, caller: Caller): Promise<RawJson> {
  const home = input.node_id === undefined ? homeOf(input.scope, caller) : undefined;
  const values = [
    ...seenBy(caller),
    input.limit,
    ...EVENT_CURSOR.read(input.cursor, [LATEST, LAST_ID]),
    input.from ?? EARLIEST,
    input.to ?? LATEST,
    input.status ?? CURRENT,
    input.kind ?? null,
  ];
  const about = input.node_id ?? home;
  const answer =
    about === undefined
      ? await database.json(EVENTS_OF_ALL, values)
      : await database.json(home === undefined ? EVENTS_OF_NODE : EVENTS_AROUND, [...values, about]);
  if (!answer) throw nodeNotFound(about ?? '');
  return answer;
}
