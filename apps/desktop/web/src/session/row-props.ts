import type { SessionEvent } from '@workspace-graph/contracts';
import type { useMoments } from '../parts/moments';
import type { SessionLog } from './session-log';

/** What a row of a log is given. */
export interface RowProps<E extends SessionEvent = SessionEvent> {
  readonly log: SessionLog;
  readonly event: E;
  /** The node that the session is at. */
  readonly nodeId: string | null;
  /** Made once for all rows: that takes its time. */
  readonly moments: ReturnType<typeof useMoments>;
  /** What is unfolded, by event and part. */
  readonly unfolded: ReadonlySet<string>;
  readonly onUnfold: (key: string) => void;
}
