import { Controller } from '@nestjs/common';
import { getSnapshot, type OutputOf, type ParsedInputOf, type RawJson, setPositions } from '@workspace-graph/contracts';
import { Database, runCommandStatement } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { getSnapshot as read } from './get-snapshot.js';
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
    return read(this.database, this.memory, input, caller);
  }

  @Handles(setPositions)
  set({ positions }: ParsedInputOf<typeof setPositions>, context: OperationContext): Promise<RawJson> {
    const column = <K extends keyof (typeof positions)[number]>(key: K): (typeof positions)[number][K][] =>
      positions.map((position) => position[key]);
    return runCommandStatement(this.database, context, SET_POSITIONS, {
      values: [column('node_id'), column('x'), column('y')],
    });
  }
}
