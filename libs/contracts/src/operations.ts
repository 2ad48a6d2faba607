import * as fileOperations from './files/file-operations.js';
import * as mirrors from './files/mirrors.js';
import * as records from './files/records.js';
import * as remotes from './files/remotes.js';
import * as status from './files/status.js';
import * as transferBatches from './files/transfer-batches.js';
import * as transfers from './files/transfers.js';
import * as access from './graph/access.js';
import * as actors from './graph/actors.js';
import * as audit from './graph/audit.js';
import * as carried from './graph/carried.js';
import * as duties from './graph/duties.js';
import * as edges from './graph/edges.js';
import * as events from './graph/events.js';
import * as nodes from './graph/nodes.js';
import * as reading from './graph/reading.js';
import * as undo from './graph/undo.js';
import * as devices from './identity/devices.js';
import * as tokens from './identity/tokens.js';
import * as users from './identity/users.js';
import type { Operation, Owner } from './operation.js';
import { refuseUnsaidReach } from './reach.js';
import * as references from './references.js';
import * as sessionDriving from './session/driving.js';
import * as sessionRuns from './session/runs.js';
import * as sessionScope from './session/scope.js';
import * as sessions from './session/session.js';
import * as transfer from './transfer/transfer.js';
import * as workspace from './workspace/workspace.js';

/** Every operation of the product, by its name. */
export const OPERATIONS: ReadonlyMap<string, Operation> = collect([
  nodes,
  carried,
  edges,
  events,
  actors,
  duties,
  access,
  audit,
  reading,
  undo,
  users,
  tokens,
  devices,
  references,
  transfer,
  mirrors,
  fileOperations,
  status,
  remotes,
  records,
  transfers,
  transferBatches,
  sessions,
  sessionDriving,
  sessionRuns,
  sessionScope,
  workspace,
]);

/** The operations of some owners, in the order of the table. */
export function operationsOf(owners: readonly Owner[]): Operation[] {
  return [...OPERATIONS.values()].filter(({ owner }) => owners.includes(owner));
}

/** Those that a central workspace carries out: of the device's, only what it can do on the remote. */
export function centralOperationsOf(owners: readonly Owner[]): Operation[] {
  return operationsOf(owners).filter(({ owner, atCentre }) => owner !== 'device' || atCentre === true);
}

function collect(modules: readonly Record<string, unknown>[]): Map<string, Operation> {
  const table = new Map<string, Operation>();
  for (const value of modules.flatMap((module) => Object.values(module))) {
    if (!isOperation(value)) continue;
    if (table.has(value.name)) throw new Error(`Operation ${value.name} is declared twice`);
    refuseUnsaidReach(value);
    table.set(value.name, value);
  }
  return table;
}

function isOperation(value: unknown): value is Operation {
  return (
    typeof value === 'object' &&
    value !== null &&
    'owner' in value &&
    'tier' in value &&
    'input' in value &&
    'name' in value
  );
}
