import type { ExportFormat, HashKind } from '@workspace-graph/contracts';

/** A file, with what the backend tells about its content. */
export interface RemoteFile {
  readonly kind: 'file';
  /** From the root of the remote, names joined by `/`, in NFC. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Opaque; another one means that the content may be another. */
  readonly revision: string;
  /** What the backend calls the file whatever its path; a move keeps it. Absent where there is no such name. */
  readonly id?: string;
  /** Time of the last edit, ISO 8601 in UTC. */
  readonly modifiedAt: string;
  /** Of `listedHashes`; in hexadecimal. */
  readonly hashes: Partial<Record<HashKind, string>>;
  /** Whether another name of its folder differs from this one only by case or normal form. */
  readonly hasTwin: boolean;
}

/** A folder, or something that is neither file nor folder (a link, a socket): that is never read nor replaced. */
export interface RemotePlace {
  readonly kind: 'folder' | 'other';
  readonly path: string;
  readonly hasTwin: boolean;
}

/** A document of the backend's own format: it has no bytes and can be exported; it is never read, replaced, moved nor removed. */
export interface RemoteDocument {
  readonly kind: 'document';
  readonly path: string;
  readonly id: string;
  readonly revision: string;
  readonly modifiedAt: string;
  readonly mediaType: string;
  /** In which it can be exported. */
  readonly formats: readonly ExportFormat[];
  readonly hasTwin: boolean;
}

export type RemoteEntry = RemoteFile | RemoteDocument | RemotePlace;
