import type { Pull, Push } from '@workspace-graph/contracts';
import type { CommandContext } from '@workspace-graph/database';

/** A content that is to be sent, exactly this one. */
export interface Download {
  readonly kind: 'download';
  readonly remote: string;
  /** On the remote. */
  readonly object: string;
  /** Within the node. */
  readonly path: string;
  readonly revision: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** A content that is to be received, on behalf of whoever asked. */
export interface Upload {
  readonly kind: 'upload';
  readonly nodeId: string;
  readonly path: string;
  readonly ifMatch: string | null;
  readonly text: boolean;
  readonly context: CommandContext;
}

/** A content that a device brings, on behalf of its person. */
export interface PushTransfer {
  readonly kind: 'push';
  readonly push: Push;
  /** Bytes of it that are not sent again. */
  readonly from: number;
  readonly context: CommandContext;
}

/** Several contents of files of a node that a device brings, or fetches. */
export interface Pushes {
  readonly kind: 'pushes';
  readonly nodeId: string;
  readonly context: CommandContext;
}
export interface Pulls {
  readonly kind: 'pulls';
  readonly nodeId: string;
  readonly pulls: readonly Pull[];
  readonly context: CommandContext;
}

export type Transfer = Download | Upload | PushTransfer | Pushes | Pulls;
