import { Controller } from '@nestjs/common';
import { getOverview, type ParsedInputOf, type RawJson } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { seenBy } from '../shared/caller.js';
import { OVERVIEW } from './overview.statements.js';

/** What needs attention and what is new. */
@Controller()
export class OverviewHandlers {
  constructor(private readonly database: Database) {}

  @Handles(getOverview)
  async get(_input: ParsedInputOf<typeof getOverview>, { caller }: OperationContext): Promise<RawJson> {
    const overview = await this.database.json(OVERVIEW, seenBy(caller));
    if (!overview) throw new Error('An overview returns one row');
    return overview;
  }
}
