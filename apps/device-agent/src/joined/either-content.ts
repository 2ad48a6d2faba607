import {
  type ContentTarget,
  type Envelope,
  type FileContent,
  type OpenContent,
  type OpenContentOptions,
  ServiceError,
  type TrackedFile,
  type WriteContentOptions,
} from '@workspace-graph/contracts';

/** The bytes of files: in the folder that a node has here, else at the centre. */
export class EitherContent implements FileContent {
  constructor(
    private readonly here: FileContent,
    private readonly centre: FileContent,
  ) {}

  confirm(nodeId: string, level: 'read' | 'write', envelope: Envelope): Promise<void> {
    return this.here.confirm(nodeId, level, envelope);
  }

  open(target: ContentTarget, options: OpenContentOptions, envelope: Envelope): Promise<OpenContent> {
    return this.first((content) => content.open(target, options, envelope));
  }

  create(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions,
    envelope: Envelope,
  ): Promise<TrackedFile> {
    return this.first((content) => content.create(target, bytes, options, envelope));
  }

  replace(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions & { readonly ifMatch: string },
    envelope: Envelope,
  ): Promise<TrackedFile> {
    return this.first((content) => content.replace(target, bytes, options, envelope));
  }

  /** A node without a folder is refused here before a byte was read. */
  private async first<T>(work: (content: FileContent) => Promise<T>): Promise<T> {
    try {
      return await work(this.here);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'NO_MIRROR') throw error;
      return work(this.centre);
    }
  }
}
