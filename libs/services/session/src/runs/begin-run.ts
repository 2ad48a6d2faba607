import type { RunMode } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import type { NewEvent } from '../log/append.js';
import { INSERT_RUN } from './run.statements.js';

/** A holder that does not renew its runs for this long has lost them. */
export const LEASE_SECONDS = 45;

/** What connects by MCP is told apart from what a runner of ours drives. */
export const CONNECTED = 'mcp';

export interface NewRun {
  readonly id: string;
  readonly sessionId: string;
  readonly holder: string;
  readonly mode: RunMode;
  readonly runner: string;
  readonly instanceId: string | null;
  readonly terminalId?: string | null;
  readonly binding?: string | null;
}

/** Begins a run of a locked session that has none; answers its event. */
export async function beginRun(tx: Transaction, run: NewRun): Promise<NewEvent> {
  const { id, sessionId, holder, mode, runner, instanceId, terminalId = null, binding = null } = run;
  await tx.execute(INSERT_RUN, [id, sessionId, holder, mode, runner, instanceId, terminalId, LEASE_SECONDS, binding]);
  return { kind: 'run_started', payload: { run_id: id, runner, instance_id: instanceId, mode } };
}
