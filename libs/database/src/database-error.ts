import { ServiceError } from '@workspace-graph/contracts';

/** Rules that the database enforces by itself, as the caller learns of them when a service did not notice first. */
const CONSTRAINTS: Readonly<Record<string, () => ServiceError>> = {
  edge_key: () => new ServiceError('EDGE_EXISTS', 'This edge already exists.'),
  edge_no_self_loop: () =>
    new ServiceError('VALIDATION_FAILED', 'target_id: a node cannot have an edge to itself', {
      issues: [{ path: 'target_id', message: 'a node cannot have an edge to itself' }],
    }),
  edge_no_cycle: () => new ServiceError('EDGE_CYCLE', 'A node cannot belong to its own descendant.'),
  organization_invariant: () => new ServiceError('ORG_INVARIANT', 'A node belongs to exactly one organization.'),
  node_has_organization: () => new ServiceError('ORG_INVARIANT', 'A node belongs to exactly one organization.'),
  user_group_name_key: () => new ServiceError('NAME_TAKEN', 'Another group has this name.', { field: 'name' }),
  user_group_claim_key: () => new ServiceError('NAME_TAKEN', 'Another group has this claim.', { field: 'claim' }),
  user_external_id_key: () => new ServiceError('CONFLICT', 'Another user has this external id.'),
  actor_user_id_key: () => new ServiceError('CONFLICT', 'Another actor is tied to this user.'),
  record_path_key: () => new ServiceError('CONFLICT', 'Another file now has this path.'),
  run_pkey: () => new ServiceError('CONFLICT', 'A run has begun under this id already.'),
  scope_node_id_fkey: () => new ServiceError('SERVICE_UNAVAILABLE', 'A node beside this one is being removed.'),
  event_supersedes_id_key: () => new ServiceError('CONFLICT', 'The event is already superseded.'),
  node_lifecycle_fits: () =>
    new ServiceError('LIFECYCLE_INVALID', 'The lifecycle value does not fit the type of the node.'),
};

/**
 * What passes by itself or when an operator has looked at the database: connections, resources such as memory and disk,
 * a server that stops or ended a statement; conflicts of writers, a server that only reads, a lock or an idle transaction
 * that took too long.
 */
const TRANSIENT_SQLSTATES = /^(?:08...|53...|57...|40001|40P01|25006|25P03|55P03)$/;
const DISK_FULL = '53100';
/** Prisma's own codes: not reached, lost, no connection free in time, transaction lost, conflict of writers. */
const TRANSIENT_PRISMA_CODES: readonly string[] = ['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034'];
/** A server whose name, address, port or socket is not there. */
const UNREACHABLE: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
];

/** Turns what the driver or Prisma threw into the error that the caller gets; unknown ones pass through. */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  for (
    let at: unknown = error, depth = 0;
    isRecord(at) && depth < 6;
    at = at['cause'] ?? at['meta'] ?? at['driverAdapterError'], depth += 1
  ) {
    const found = CONSTRAINTS[constraintOf(at)];
    if (found) return found();
    if (isTransient(codeOf(at)) || isLostConnection(at)) {
      if (codeOf(at) === DISK_FULL)
        return new ServiceError('STORAGE_FULL', 'The disk of the database is full.', undefined, { cause: error });
      return new ServiceError('SERVICE_UNAVAILABLE', 'The database is busy or restarting.', undefined, {
        cause: error,
      });
    }
  }
  return error;
}

function constraintOf(error: Record<string, unknown>): string {
  const direct = error['constraint'];
  if (typeof direct === 'string') return direct;
  if (isRecord(direct) && typeof direct['index'] === 'string') return direct['index'];
  const message = typeof error['message'] === 'string' ? error['message'] : '';
  return (
    /constraint "([a-z_]+)"/.exec(message)?.[1] ?? SENTENCES.find(([sentence]) => message.includes(sentence))?.[1] ?? ''
  );
}

/** Sentences of our own triggers, whose constraint name some drivers drop. */
const SENTENCES: readonly (readonly [string, string])[] = [
  ['belongs_to would make a cycle', 'edge_no_cycle'],
  ['a node belongs to exactly one organization', 'organization_invariant'],
  ['an organization belongs to nothing', 'organization_invariant'],
];

function codeOf(error: Record<string, unknown>): string {
  const code = error['originalCode'] ?? error['code'];
  return typeof code === 'string' ? code : '';
}

function isTransient(code: string): boolean {
  return TRANSIENT_SQLSTATES.test(code) || TRANSIENT_PRISMA_CODES.includes(code) || UNREACHABLE.includes(code);
}

/** What the driver has words for and no code. */
function isLostConnection({ message }: Record<string, unknown>): boolean {
  return (
    typeof message === 'string' &&
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
      message,
    )
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
