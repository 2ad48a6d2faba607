import { Controller } from '@nestjs/common';
import { type OutputOf, type ParsedInputOf, resolveReferences } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { resolve } from './resolve-references.js';

/** What callers name instead of giving ids. */
@Controller()
export class ReferenceHandlers {
  constructor(private readonly database: Database) {}

  @Handles(resolveReferences)
  async resolve(
    { references }: ParsedInputOf<typeof resolveReferences>,
    { caller }: OperationContext,
  ): Promise<OutputOf<typeof resolveReferences>> {
    return { ids: await resolve(this.database, references, caller) };
  }
}
