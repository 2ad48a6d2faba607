import { Injectable } from '@nestjs/common';
import type { applyFileChanges, OutputOf, ParsedInputOf } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { authorOf } from '../shared/caller.js';
import { NOTE_FOLLOWS } from './change.statements.js';

/** Files on remotes whose records have moved: their objects are to follow them. */
@Injectable()
export class MovedObjects {
  private readonly listeners = new Set<() => void>();

  /** Told when something was noted in this process. Returns the function that ends listening. */
  onNoted(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Notes in the transaction of the records what is to follow them. Answers whether anything is. */
  async note(
    tx: Transaction,
    { node_id: nodeId, changes }: ParsedInputOf<typeof applyFileChanges>,
    { results }: OutputOf<typeof applyFileChanges>,
  ): Promise<boolean> {
    const moved = new Map<string, string>();
    for (const [index, { kind }] of changes.entries()) {
      const result = results[index];
      const file = kind === 'move' && result && 'file' in result ? result.file : null;
      if (file !== null && file.remote_name !== null) moved.set(file.id, newId());
    }
    if (moved.size === 0) return false;
    const author = authorOf(tx.context.caller);
    await tx.execute(NOTE_FOLLOWS, [[...moved.values()], [...moved.keys()], nodeId, author]);
    return true;
  }

  /** What was noted is committed. */
  tell(): void {
    for (const listener of this.listeners) listener();
  }
}
