import type { Remote, RemoteFailureReason } from '../port/index.js';

/** A remote to be tried, and what happens around it. */
export interface RemoteWorld {
  readonly remote: Remote;
  /** Puts a content under a path, whatever lies there, as another program would. */
  plant(path: string, content: string): Promise<void>;
  /** Makes every call fail for this reason until `mend`. */
  break(reason: RemoteFailureReason): Promise<void>;
  mend(): Promise<void>;
  /** What lies in the storage beside the files that the remote tells of, such as parts of broken writes. */
  leftOvers(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Failures that cannot be brought about, each with the reason. */
export type Exemptions = Partial<Record<'forbidden' | 'unavailable' | 'full', string>>;
