import type {
  adoptFiles,
  Envelope,
  FileContent,
  Framed,
  InputOf,
  OutputOf,
  Pull,
  Push,
  PushedFile,
  PushOutcome,
  SentContent,
  searchFiles,
  snapshotDocument,
} from '@workspace-graph/contracts';

/** The contents of files at the centre. */
export interface CentralFiles extends Pick<FileContent, 'open'> {
  /**
   * Sends a content to the place of its file on the remote, in the name of the device. It may be asked for again, from an
   * offset on: a large one goes on where it breaks off.
   * @throws ServiceError FILE_NOT_FOUND, FORBIDDEN, NO_REMOTE, NATIVE_FORMAT, REMOTE_REFUSED, REMOTE_UNAVAILABLE; CONFLICT
   * when another content lies there than the one that it builds on, with `details.current`
   */
  push(push: Push, bytes: (from: number) => AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<PushedFile>;
  /** Sends small contents of files of a node together. Answers what became of each. @throws ServiceError when none of them could be sent */
  pushAll(nodeId: string, contents: AsyncIterable<Framed<Push>>, signal: AbortSignal): Promise<readonly PushOutcome[]>;
  /** Fetches small contents of files of a node together, in the order of `pulls`. @throws ServiceError when it breaks off */
  pullAll(nodeId: string, pulls: readonly Pull[], signal: AbortSignal): AsyncIterable<Framed<SentContent>>;
  /**
   * Removes the record of a file together with its object on the remote, or has the centre finish that by itself.
   * @throws ServiceError FILE_NOT_FOUND, FORBIDDEN, REMOTE_REFUSED, REMOTE_UNAVAILABLE; CONFLICT for an object that somebody
   * changed: nothing was removed
   */
  remove(fileId: string, expectedVersion: number | undefined, envelope: Envelope): Promise<void>;
  /** Has files tracked that lie on the remote of a node. @throws ServiceError NODE_NOT_FOUND, FORBIDDEN, NO_REMOTE, REMOTE_REFUSED, REMOTE_UNAVAILABLE */
  adopt(input: InputOf<typeof adoptFiles>, envelope: Envelope): Promise<OutputOf<typeof adoptFiles>>;
  /** Searches the files on remotes. @throws ServiceError NODE_NOT_FOUND */
  search(
    input: InputOf<typeof searchFiles>,
    envelope: Envelope,
    signal: AbortSignal,
  ): Promise<OutputOf<typeof searchFiles>>;
  /** Makes a file of a document of a cloud service, on the remote of a node. @throws ServiceError as `snapshot_document` */
  snapshot(
    input: InputOf<typeof snapshotDocument>,
    envelope: Envelope,
    signal: AbortSignal,
  ): Promise<OutputOf<typeof snapshotDocument>>;
}

/** Injection token of CentralFiles. */
export const CENTRAL_FILES = Symbol('workspace-graph:central-files');
