import type { Bus } from '@workspace-graph/bus';
import { type Caller, checkScope, type Reached } from '@workspace-graph/contracts';
import type { SessionScopes } from '@workspace-graph/platform';
import { ask } from '@workspace-graph/surfaces';

/** The scopes of sessions, which the centre keeps. */
export class CentralScopes implements SessionScopes {
  constructor(private readonly bus: Pick<Bus, 'call'>) {}

  async admit(caller: Caller & { readonly session_id: string }, reached: readonly Reached[]): Promise<string | null> {
    return (await ask(this.bus, checkScope, { reached: [...reached] }, { caller })).home_node_id;
  }
}
