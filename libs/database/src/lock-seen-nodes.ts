import type { Transaction } from './command.js';
import type { Statement } from './statement.js';

/**
 * Rows of a statement that locks nodes that the caller sees, each with `level`, what the caller may do there. A statement
 * that waited for a change of sharing finds the node as it is now, and of its lists what was before: the next one sees both.
 */
export async function lockSeenNodes<T extends { readonly level: number }>(
  tx: Pick<Transaction, 'rows'>,
  sql: Statement,
  values: readonly unknown[],
): Promise<T[]> {
  const rows = await tx.rows<T>(sql, values);
  return rows.some(({ level }) => level === 0) ? tx.rows<T>(sql, values) : rows;
}
