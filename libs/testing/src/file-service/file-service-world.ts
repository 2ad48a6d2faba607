import type { Caller, ErrorCode, InputOf, Operation, OutputOf } from '@workspace-graph/contracts';

/** A node that is there for its files. Open to everybody unless it says who may read and who may write. */
export interface WorldNode {
  /** Name of the node. */
  readonly name: string;
  /** Callers who may read it. With neither readers nor writers it is open to everybody. */
  readonly readers?: readonly Caller[];
  /** Callers who may write it. With neither readers nor writers it is open to everybody. */
  readonly writers?: readonly Caller[];
  /** Who sees its organization, which is then another one than `acme`. */
  readonly organizationReaders?: readonly Caller[];
}

/** A file service with the nodes that its specs need, called the way a device calls it: for `caller`, or by itself for null. */
export interface FileServiceWorld extends AsyncDisposable {
  /** A user with a credential for writing. */
  user(name: string): Promise<Caller>;
  /** Another device, of somebody who manages. */
  device(): Promise<Caller>;
  /** Adds a project to the organization with the key `acme`; answers its id. */
  node(node: WorldNode): Promise<string>;
  /** The caller as an agent whose session holds these nodes. */
  session(caller: Caller, nodeIds: readonly string[]): Promise<Caller>;
  /** Calls an operation and returns its parsed output. @throws ServiceError of the operation */
  call<Op extends Operation>(operation: Op, input: InputOf<Op>, caller: Caller | null): Promise<OutputOf<Op>>;
  /** Calls an operation that must be refused with this code; answers the error's details and message. */
  refusal<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    code: ErrorCode,
    caller: Caller | null,
  ): Promise<{ readonly message: string; readonly details?: unknown }>;
  /** What was buried, in the order of the paths. */
  tombstones(nodeId: string): Promise<{ file_id: string; path: string }[]>;
}
