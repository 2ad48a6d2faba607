import { Controller } from '@nestjs/common';
import { type ParsedInputOf, type RawJson, search } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { rawObject } from '../shared/raw-json.js';
import { find } from './search.js';

/** Searching names and texts. */
@Controller()
export class SearchHandlers {
  constructor(private readonly database: Database) {}

  @Handles(search)
  async search(input: ParsedInputOf<typeof search>, { caller }: OperationContext): Promise<RawJson> {
    // Written once here, and by nobody on its way.
    return rawObject(await find(this.database, input, caller));
  }
}
