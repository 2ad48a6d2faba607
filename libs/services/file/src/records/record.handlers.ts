import { Controller } from '@nestjs/common';
import {
  type Caller,
  findFiles,
  findPlaces,
  listNodeRecords,
  type ParsedInputOf,
  queryFiles,
  type RawJson,
} from '@workspace-graph/contracts';
import { Database, FIRST_ID, LAST_ID } from '@workspace-graph/database';
import { pathKey } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { FILE_CURSOR, FIND_FILES, FIND_PLACES, type FileList, LIST_FILES, NODE_RECORDS } from './record.statements.js';

/** Reading records of files. */
@Controller()
export class RecordHandlers {
  constructor(private readonly database: Database) {}

  @Handles(findPlaces)
  async findPlaces(input: ParsedInputOf<typeof findPlaces>, { caller }: OperationContext): Promise<RawJson> {
    const session = input.held ? (caller.session_id ?? null) : null;
    const places = await this.database.json(FIND_PLACES, [...seenBy(caller), input.node_ids, session]);
    if (!places) throw new Error('Places are returned in one row');
    return places;
  }

  @Handles(findFiles)
  async findFiles(input: ParsedInputOf<typeof findFiles>, { caller }: OperationContext): Promise<RawJson> {
    const files = await this.database.json(FIND_FILES, [
      ...seenBy(caller),
      input.ids,
      input.paths.map(({ node_id }) => node_id),
      input.paths.map(({ path }) => pathKey(path)),
    ]);
    if (!files) throw new Error('Files are returned in one row');
    return files;
  }

  @Handles(listNodeRecords)
  async listNodeRecords(input: ParsedInputOf<typeof listNodeRecords>, { caller }: OperationContext): Promise<RawJson> {
    const files = await this.database.json(NODE_RECORDS, [
      ...seenBy(caller),
      input.node_id,
      input.after ?? FIRST_ID,
      input.limit,
    ]);
    if (!files) throw nodeNotFound(input.node_id);
    return files;
  }

  @Handles(queryFiles)
  async queryFiles(input: ParsedInputOf<typeof queryFiles>, { caller }: OperationContext): Promise<RawJson> {
    const [list, about] = placeOf(input, caller);
    const page = await this.database.json(LIST_FILES[list][input.status ?? 'any'], [
      ...seenBy(caller),
      input.limit,
      ...FILE_CURSOR.read(input.cursor, ['infinity', LAST_ID]),
      ...(about === undefined ? [] : [about]),
    ]);
    if (page) return page;
    if (input.node_id === undefined) throw new Error('A list returns one row');
    throw nodeNotFound(input.node_id);
  }
}

/** What a list is of: of a node, of what a session holds, or of everything. */
function placeOf({ node_id }: ParsedInputOf<typeof queryFiles>, { session_id }: Caller): [FileList, string?] {
  if (node_id !== undefined) return ['node', node_id];
  return session_id ? ['session', session_id] : ['all'];
}
