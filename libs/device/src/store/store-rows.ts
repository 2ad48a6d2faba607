/** The folder of a node on this device. */
export interface MirrorRow {
  /** The node; a node has at most one mirror on a device. */
  readonly nodeId: string;
  /** Absolute, in NFC as given. */
  readonly path: string;
  /** `device:inode` of the folder when it was last seen in order; tells a mount point without its volume. */
  readonly identity: string;
  /** Null before the first scan has ended: until then nothing that is absent counts as deleted. */
  readonly scannedAt: string | null;
  /** ISO 8601 in UTC. */
  readonly createdAt: string;
}

/** What this device knows of a tracked file: the record and the content it stands for on this disk. */
export interface FileState {
  /** Id of the record, the same on all devices. */
  readonly fileId: string;
  /** The node of the file. */
  readonly nodeId: string;
  /** Within the node, in NFC. */
  readonly path: string;
  /** `pathKey` of the path: equal for names that count as the same name. */
  readonly pathKey: string;
  /** SHA-256 of the content when it was last read, in hexadecimal. */
  readonly sha256: string;
  /** Size of that content. */
  readonly sizeBytes: number;
  /** `stampOf` the file when its content was read; null when it may have changed since and must be read again. */
  readonly stamp: string | null;
  /** Inode on the volume of the mirror; null on any other volume. */
  readonly inode: string | null;
  /** True once the file was absent in a scan of a folder that was there. Its record stays: it was pushed. */
  readonly isDeleted: boolean;
  /** Whether the record says that the file was ever pushed. */
  readonly wasPushed: boolean;
  /** Content that this device last had in common with the remote; null before the first sync. */
  readonly lastSyncedHash: string | null;
  /** Version of the record. */
  readonly version: number;
}

/** The little that tells where a tracked file is expected. */
export type TrackedPath = Pick<
  FileState,
  'fileId' | 'path' | 'sha256' | 'sizeBytes' | 'isDeleted' | 'wasPushed' | 'lastSyncedHash'
>;

/** Content that was deleted or replaced. The bytes lie in the trash folder under `id`. */
export interface TrashRow {
  /** Id of the entry, and name of its file in the trash folder. */
  readonly id: string;
  /** The node from which the file was removed. */
  readonly nodeId: string;
  /** Id of its record; null for a file that was not tracked. */
  readonly fileId: string | null;
  /** Path within the node at which it is restored. */
  readonly path: string;
  /** `replaced`: the file has other content now, or another file has its path. */
  readonly reason: 'deleted' | 'replaced';
  /** SHA-256 of the content, in hexadecimal. */
  readonly sha256: string;
  /** Size of the content. */
  readonly sizeBytes: number;
  /** Null for a copy. Else the bytes are the file itself, and `sha256` holds while its `editOf` is this one. */
  readonly edit: string | null;
  /** When it was moved to the trash, ISO 8601 in UTC. */
  readonly trashedAt: string;
}
