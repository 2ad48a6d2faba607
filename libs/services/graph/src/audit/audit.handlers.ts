import { Controller } from '@nestjs/common';
import { listAudit, type ParsedInputOf, type RawJson } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles } from '@workspace-graph/platform';
import { listAudit as list } from './list-audit.js';

/** The audit trail. */
@Controller()
export class AuditHandlers {
  constructor(private readonly database: Database) {}

  @Handles(listAudit)
  list(input: ParsedInputOf<typeof listAudit>): Promise<RawJson> {
    return list(this.database, input);
  }
}
