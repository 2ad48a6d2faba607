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
  /** What stands between the remote and its server, where there is a network. */
  readonly network?: NetworkFaults;
  /** True where the storage itself is in the memory of this process. */
  readonly isInMemory?: boolean;
  /** How many files a folder can have before this server takes minutes. */
  readonly atMost?: number;
  close(): Promise<void>;
}

/** Faults of a network, and of a server that is too busy. Each lasts until `mend` of the world. */
export interface NetworkFaults {
  /** Breaks the connection off after so many further bytes in one direction, and each one after it. */
  cut(after: { readonly direction: 'up' | 'down'; readonly bytes: number }): Promise<void>;
  /** Lets so many bytes pass in a second. */
  slow(bytesPerSecond: number): Promise<void>;
  /** Answers the next requests with this status instead of passing them on, where the server speaks HTTP. */
  answer?(status: number, options: { readonly requests: number; readonly retryAfterSeconds?: number }): Promise<void>;
}

/** Failures that cannot be brought about, each with the reason. */
export type Exemptions = Partial<Record<'forbidden' | 'unavailable' | 'full', string>>;
