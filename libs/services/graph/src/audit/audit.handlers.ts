import { Controller } from '@nestjs/common';
import { listAudit, type ParsedInputOf, type RawJson, validationFailed } from '@workspace-graph/contracts';
import { Database, LAST_ID } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { EARLIEST, LATEST } from '../shared/time.js';
import { AUDIT, AUDIT_CURSOR, type AuditFilter } from './audit.statements.js';

/** The audit trail. */
@Controller()
export class AuditHandlers {
  constructor(private readonly database: Database) {}

  /** Answers one page, newest first; in a session, of what it holds. @throws ServiceError VALIDATION_FAILED for `about` without a node */
  @Handles(listAudit)
  async list(input: ParsedInputOf<typeof listAudit>, { caller }: OperationContext): Promise<RawJson> {
    if (input.about !== undefined && input.node_id === undefined)
      throw validationFailed([{ path: 'about', message: 'needs node_id: it says what a change is about for a node' }]);
    const session = input.node_id === undefined ? (caller.session_id ?? undefined) : undefined;
    const all: readonly (readonly [AuditFilter, string | undefined])[] = [
      ['session', session],
      ['node', input.node_id],
      ['about', input.about],
      ['target', input.target_id],
      ['user', input.user_id],
      ['action', input.action],
    ];
    const filters = all.filter(([, value]) => value !== undefined);
    const statement = AUDIT.get(filters.map(([name]) => name).join());
    if (!statement) throw new Error('There is no statement for these filters');
    const page = await this.database.json(statement, [
      input.limit,
      ...AUDIT_CURSOR.read(input.cursor, [LATEST, LAST_ID]),
      input.from ?? EARLIEST,
      input.to ?? LATEST,
      ...filters.map(([, value]) => value),
    ]);
    if (!page) throw new Error('A list returns one row');
    return page;
  }
}
