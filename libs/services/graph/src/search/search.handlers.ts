import { Injectable } from '@nestjs/common';
import { type OutputOf, type ParsedInputOf, search } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { search as find } from './search.js';

/** Searching names and texts. */
@Injectable()
export class SearchHandlers {
  constructor(private readonly database: Database) {}

  @Handles(search)
  search(input: ParsedInputOf<typeof search>, { caller }: OperationContext): Promise<OutputOf<typeof search>> {
    return find(this.database, input, caller);
  }
}
