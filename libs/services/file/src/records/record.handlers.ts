import { Controller } from '@nestjs/common';
import {
  findFiles,
  findPlaces,
  findRemovedFiles,
  listNodeRecords,
  type ParsedInputOf,
  queryFiles,
  type RawJson,
} from '@workspace-graph/contracts';
import { Database, FIRST_ID } from '@workspace-graph/database';
import { pathKey } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { pageOfFiles } from './query-files.js';
import { FIND_FILES, FIND_PLACES, NODE_RECORDS, REMOVED_FILES } from './record.statements.js';

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

  @Handles(findRemovedFiles)
  async findRemovedFiles(
    { node_id, ids }: ParsedInputOf<typeof findRemovedFiles>,
    { caller }: OperationContext,
  ): Promise<RawJson> {
    const removed = await this.database.json(REMOVED_FILES, [...seenBy(caller), node_id, ids]);
    if (!removed) throw nodeNotFound(node_id);
    return removed;
  }

  @Handles(queryFiles)
  queryFiles(input: ParsedInputOf<typeof queryFiles>, { caller }: OperationContext): Promise<RawJson> {
    return pageOfFiles(this.database, input, caller);
  }
}
