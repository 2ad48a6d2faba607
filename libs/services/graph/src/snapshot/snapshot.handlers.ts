import { Controller } from '@nestjs/common';
import {
  getSnapshot,
  type OutputOf,
  type ParsedInputOf,
  type RawJson,
  type ReplyOf,
  setPositions,
} from '@workspace-graph/contracts';
import { Database, runCommand } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { seenBy } from '../shared/caller.js';
import { emitGraphChanged } from '../shared/graph-changed.js';
import { answerSnapshot } from './get-snapshot.js';
import { SET_POSITIONS } from './snapshot.statements.js';
import { SnapshotMemory } from './snapshot-memory.js';

/** The graph as it is drawn. */
@Controller()
export class SnapshotHandlers {
  constructor(
    private readonly database: Database,
    private readonly memory: SnapshotMemory,
  ) {}

  @Handles(getSnapshot)
  get(
    input: ParsedInputOf<typeof getSnapshot>,
    { caller }: OperationContext,
  ): Promise<RawJson | OutputOf<typeof getSnapshot>> {
    return answerSnapshot(this.database, this.memory, input, caller);
  }

  @Handles(setPositions)
  set(
    { positions }: ParsedInputOf<typeof setPositions>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof setPositions>> {
    const columns = (['node_id', 'x', 'y'] as const).map((key) => positions.map((position) => position[key]));
    return runCommand(this.database, context, async (tx) => {
      const [row] = await tx.rows<{ saved: number; moved: string[] }>(SET_POSITIONS, [
        ...seenBy(context.caller),
        ...columns,
      ]);
      const { saved = 0, moved = [] } = row ?? {};
      if (moved.length > 0) {
        tx.audit({ action: setPositions.name, targetKind: 'position', targetId: null, after: { moved: moved.length } });
        emitGraphChanged(tx, moved, setPositions.name);
      }
      return { saved };
    });
  }
}
