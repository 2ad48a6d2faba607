/** What is to be watched. */
export interface WatchOrder {
  /** Absolute, without links in it. */
  readonly root: string;
  /** Absolute paths of folders in it that are watched by themselves. */
  readonly others: readonly string[];
}

/** What the system told since the last time. */
export interface WatchNews {
  /** Paths within the folder of what was made, changed or removed; '' when it may be anything. */
  readonly changed: readonly string[];
  /** Those of them that may be folders which are not watched with all that is in them. */
  readonly unsure: readonly string[];
  /** Why more may happen that is not told; the watch is to be closed. Null while all is well. */
  readonly error: Error | null;
}

/** A folder that is watched with all that lies in it. */
export interface WatchedFolder {
  /** Watches what may have been overlooked. @throws Error when the system refuses; the watch is to be closed then */
  refresh(): Promise<void>;
  /** Ends the watch. No news arrive after it resolves. */
  close(): Promise<void>;
}

/** How changes in folders come to be known on one kind of system. Folders named `.git` are never watched. */
export interface SystemWatch {
  /** Resolves once all is watched that is there. @throws Error of the system, with its code in the message */
  open(order: WatchOrder, take: (news: WatchNews) => void): Promise<WatchedFolder>;
  /** Ends all that is open. */
  close(): Promise<void>;
}
