import { type ParsedInputOf, type RawJson, renameSession } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { conflict, lockOwnSession, readSession } from '../shared/locked-session.js';
import { emitChanged } from '../shared/session-changes.js';
import { RENAME } from './record.statements.js';

/** Gives a session the name of its owner's choice, which no handoff changes any more. */
export async function rename(tx: Transaction, input: ParsedInputOf<typeof renameSession>): Promise<RawJson> {
  const { session_id: id, name, expected_version: expected } = input;
  const session = await lockOwnSession(tx, id);
  if (expected !== undefined && expected !== session.version)
    throw await conflict(tx, session, `The session has version ${session.version} by now, not ${expected}.`);
  if (name !== session.name || !session.is_named) {
    await tx.execute(RENAME, [id, name]);
    const changed = { before: { name: session.name }, after: { name } };
    tx.audit({
      action: renameSession.name,
      targetKind: 'session',
      targetId: id,
      concerns: [session.node_id],
      ...changed,
    });
    emitChanged(tx, session);
  }
  return readSession(tx, id);
}
