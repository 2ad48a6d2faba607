/** A file on disk whose content was read. */
export interface SeenContent {
  /** SHA-256 of the whole content, in hexadecimal. */
  readonly sha256: string;
  /** Size of the content that was hashed. */
  readonly sizeBytes: number;
  /** Media type, by the name of the file. */
  readonly mimeType: string;
  /** Time of the last change, ISO 8601 in UTC. */
  readonly modifiedAt: string;
  /** As `stampOf` makes it; null when the file may have changed since it was read. */
  readonly stamp: string | null;
  /** As `inodeOf` makes it; null on another volume than that of the mirror. */
  readonly inode: string | null;
}
