import type { listAudit as operation, ParsedInputOf, RawJson } from '@workspace-graph/contracts';
import { type Database, LAST_ID } from '@workspace-graph/database';
import { EARLIEST, LATEST } from '../shared/time.js';
import { AUDIT, AUDIT_CURSOR, type AuditFilter } from './audit.statements.js';

/** Answers one page of the audit trail, newest first. */
export async function listAudit(database: Database, input: ParsedInputOf<typeof operation>): Promise<RawJson> {
  const all: readonly (readonly [AuditFilter, string | undefined])[] = [
    ['target', input.target_id],
    ['user', input.user_id],
    ['action', input.action],
  ];
  const filters = all.filter(([, value]) => value !== undefined);
  const statement = AUDIT.get(filters.map(([name]) => name).join());
  if (!statement) throw new Error('No statement for these filters');
  const page = await database.json(statement, [
    input.limit,
    ...AUDIT_CURSOR.read(input.cursor, [LATEST, LAST_ID]),
    input.from ?? EARLIEST,
    input.to ?? LATEST,
    ...filters.map(([, value]) => value),
  ]);
  if (!page) throw new Error('A list answers one row');
  return page;
}
