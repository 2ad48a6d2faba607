import type { AccessPreview, Caller, ErrorCode, InputOf, Operation, OutputOf } from '@workspace-graph/contracts';
import { checkPreview, expectedPreview, widens } from './preview.js';
import { accepted, refused, type Session } from './session.js';
import type { Step } from './step.js';
import { accessTable, callerOf, type World } from './world.js';

/** One step under way: makes calls as its user, and knows what the rules expect of the answers. */
export class Act {
  readonly world: World;
  readonly by: Caller;

  constructor(
    readonly session: Session,
    readonly step: Step,
  ) {
    this.world = session.world;
    this.by = callerOf(session.world, step.by);
  }

  accepted<Op extends Operation>(operation: Op, input: InputOf<Op>, by: Caller = this.by): Promise<OutputOf<Op>> {
    return accepted(this.session.call, operation, input, by);
  }

  async refused<Op extends Operation>(operation: Op, input: InputOf<Op>, code: ErrorCode): Promise<void> {
    expect(await refused(this.session.call, operation, input, this.by)).toMatchObject({ code });
  }

  /** Changes the world in a way that cannot move anybody's access to what was there before. */
  settle(mutate: () => void): void {
    mutate();
    this.session.table = accessTable(this.world);
  }

  /**
   * Makes a change that may move access, first unconfirmed if the step says so. The product must wait for confirmation
   * exactly when the rules say that somebody gains, and tell who gains and loses as they do.
   */
  async moveAccess<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    mutate: () => void,
    more: MoveOptions = {},
  ): Promise<OutputOf<Op>> {
    const before = this.session.table;
    this.settle(mutate);
    const expected = expectedPreview(this.world, before, this.session.table);
    const send = async (confirmed: boolean): Promise<OutputOf<Op> & Moved> => {
      const answer = (await this.accepted(operation, { ...input, confirmed }, more.by)) as OutputOf<Op> & Moved;
      expect(answer.applied).toBe(confirmed || !(more.alwaysAsks || widens(expected)));
      checkPreview(this.world, answer.preview, expected);
      return answer;
    };
    const answer = await send(!this.step.ask);
    return answer.applied ? answer : send(true);
  }
}

interface Moved {
  readonly applied: boolean;
  readonly preview: AccessPreview | null;
}

interface MoveOptions {
  /** Waits for confirmation even when nobody gains. */
  readonly alwaysAsks?: boolean;
  /** Another caller than the step's. */
  readonly by?: Caller;
}
