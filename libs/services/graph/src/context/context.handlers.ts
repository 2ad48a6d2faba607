import { Controller } from '@nestjs/common';
import { getContext, type ParsedInputOf, type RawJson } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { getContext as read } from './get-context.js';

/** A node with what lies around it. */
@Controller()
export class ContextHandlers {
  constructor(private readonly database: Database) {}

  @Handles(getContext)
  get(input: ParsedInputOf<typeof getContext>, { caller }: OperationContext): Promise<RawJson> {
    return read(this.database, input, caller);
  }
}
