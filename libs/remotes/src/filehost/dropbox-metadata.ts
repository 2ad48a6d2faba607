import { z } from 'zod';
import type { RemoteEntry, RemoteFile } from '../port/index.js';

const file = z.object({
  '.tag': z.literal('file'),
  id: z.string(),
  path_display: z.string(),
  rev: z.string(),
  size: z.number(),
  client_modified: z.string(),
  content_hash: z.string().optional(),
  is_downloadable: z.boolean().default(true),
});
const folder = z.object({ '.tag': z.literal('folder'), path_display: z.string() });
const deleted = z.object({ '.tag': z.literal('deleted'), path_display: z.string() });

const metadata = z.discriminatedUnion('.tag', [file, folder, deleted]);
export type DropboxMetadata = z.infer<typeof metadata>;

export const schemas = {
  /** Of calls that answer nothing but a file, which they do not tag. */
  file: file.extend({ '.tag': z.literal('file').default('file') }),
  metadata,
  moved: z.object({ metadata }),
  page: z.object({ entries: z.array(metadata), cursor: z.string(), has_more: z.boolean() }),
  cursor: z.object({ cursor: z.string() }),
  session: z.object({ session_id: z.string() }),
  revisions: z.object({ is_deleted: z.boolean(), entries: z.array(z.object({ rev: z.string() })) }),
  found: z.object({
    matches: z.array(z.object({ metadata: z.object({ metadata: metadata.optional() }) })),
    has_more: z.boolean(),
    cursor: z.string().optional(),
  }),
};

/** Paths of a remote whose root is a folder of Dropbox. */
export class DropboxPaths {
  private readonly depth: number;

  /** @param root '' or a path with a leading slash */
  constructor(readonly root: string) {
    this.depth = root.split('/').length;
  }

  absolute(path: string): string {
    return path === '' ? this.root : `${this.root}/${path}`;
  }

  relative(display: string): string {
    return display.split('/').slice(this.depth).join('/').normalize('NFC');
  }

  entryOf(found: DropboxMetadata): RemoteEntry | null {
    if (found['.tag'] === 'deleted') return null;
    if (found['.tag'] === 'file' && found.is_downloadable) return this.fileOf(found);
    // A document of Dropbox itself has no bytes.
    if (found['.tag'] === 'file') return { kind: 'other', path: this.relative(found.path_display), hasTwin: false };
    return { kind: 'folder', path: this.relative(found.path_display), hasTwin: false };
  }

  fileOf(found: z.infer<typeof file>): RemoteFile {
    return {
      kind: 'file',
      path: this.relative(found.path_display),
      sizeBytes: found.size,
      revision: found.rev,
      id: found.id,
      modifiedAt: new Date(found.client_modified).toISOString(),
      hashes: found.content_hash === undefined ? {} : { dropbox: found.content_hash },
      hasTwin: false,
    };
  }
}
