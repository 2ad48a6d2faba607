import type { Caller, ParsedInputOf, queryFiles, RawJson } from '@workspace-graph/contracts';
import { type Database, LAST_ID } from '@workspace-graph/database';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { FILE_CURSOR, type FileList, LIST_FILES } from './record.statements.js';

/** One page of records, newest first. @throws ServiceError NODE_NOT_FOUND; VALIDATION_FAILED for a cursor of another list */
export async function pageOfFiles(
  database: Database,
  input: ParsedInputOf<typeof queryFiles>,
  caller: Caller,
): Promise<RawJson> {
  const [list, about] = placeOf(input, caller);
  const page = await database.json(LIST_FILES[list][input.status ?? 'any'], [
    ...seenBy(caller),
    input.limit,
    ...FILE_CURSOR.read(input.cursor, ['infinity', LAST_ID]),
    ...(about === undefined ? [] : [about]),
  ]);
  if (page) return page;
  if (input.node_id === undefined) throw new Error('A list returns one row');
  throw nodeNotFound(input.node_id);
}

/** What a list is of: of a node, of what a session holds, or of everything. */
function placeOf({ node_id }: ParsedInputOf<typeof queryFiles>, { session_id }: Caller): [FileList, string?] {
  if (node_id !== undefined) return ['node', node_id];
  return session_id ? ['session', session_id] : ['all'];
}
