export interface CallOptions {
  /** Ends the call with its reason; what was begun leaves nothing under the path. */
  readonly signal?: AbortSignal;
}

export interface ListOptions extends CallOptions {
  /** True: all that lies below, folders before their content. */
  readonly recursive?: boolean;
}

export interface ReadOptions extends CallOptions {
  /** Bytes to leave out before the first one, and how many to give at most. */
  readonly range?: { readonly offset: number; readonly length?: number };
  /** Another revision is refused with `changed`. */
  readonly expected?: string;
}

/** The revision that is replaced, moved or removed; null: nothing may lie there. There is no way to overwrite blindly. */
export interface Expecting extends CallOptions {
  readonly expected: string | null;
}

export interface WriteOptions extends Expecting {
  /** Time of the last edit that the file is to have, where `keepsModified`; ISO 8601 in UTC. */
  readonly modifiedAt?: string;
}

export interface TransferOptions extends CallOptions {
  /** The revision of the file that is moved or copied. Nothing may lie at the new path. */
  readonly expected: string;
}
