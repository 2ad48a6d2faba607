import { Controller } from '@nestjs/common';
import {
  createFile,
  type ParsedInputOf,
  type ReplyOf,
  ServiceError,
  validationFailed,
  writeFile,
} from '@workspace-graph/contracts';
import { parseSubpath } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { FileChanges } from './file-changes.js';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Files that are written inline. */
@Controller()
export class WriteHandlers {
  constructor(private readonly changes: FileChanges) {}

  @Handles(createFile)
  create(
    input: ParsedInputOf<typeof createFile>,
    { envelope, operation, signal }: OperationContext,
  ): Promise<ReplyOf<typeof createFile>> {
    const bytes = bytesOf(input.content, input.encoding);
    const path = pathOfNewFile(input);
    const target = { nodeId: input.node_id, path, field: 'filename' };
    return this.changes.createFrom(target, once(bytes), { envelope, action: operation.name, signal });
  }

  @Handles(writeFile)
  async write(
    { node_id, path, content, expected_sha256 }: ParsedInputOf<typeof writeFile>,
    { envelope, operation, signal }: OperationContext,
  ): Promise<ReplyOf<typeof writeFile>> {
    if (!content.isWellFormed() || content.includes('\0'))
      throw new ServiceError('NOT_EDITABLE', 'content: must be Unicode text without NUL characters.', { path });
    const options = { envelope, action: operation.name, signal, text: true, ifMatch: expected_sha256 };
    return this.changes.replaceFrom({ nodeId: node_id, path }, once(Buffer.from(content)), options);
  }
}

/**
 * The path of a file that is described by its parts. A name or subfolders with other parts in them are refused.
 * @throws ServiceError VALIDATION_FAILED
 */
export function pathOfNewFile({
  section,
  subpath,
  filename,
}: {
  readonly section: string;
  readonly subpath: string | null;
  readonly filename: string;
}): string {
  for (const [path, text] of Object.entries({ subpath, filename })) {
    const parsed = text === null ? null : parseSubpath(text, { portable: true });
    if (parsed && 'problem' in parsed) throw validationFailed([{ path, message: parsed.problem }]);
  }
  if (filename.includes('/')) throw validationFailed([{ path: 'filename', message: 'must not contain a slash' }]);
  return [section, ...(subpath === null ? [] : [subpath]), filename].join('/');
}

function bytesOf(content: string, encoding: 'utf8' | 'base64'): Buffer {
  if (encoding === 'base64') {
    if (!BASE64.test(content)) throw validationFailed([{ path: 'content', message: 'must be base64' }]);
    return Buffer.from(content, 'base64');
  }
  if (!content.isWellFormed()) throw validationFailed([{ path: 'content', message: 'must be valid Unicode text' }]);
  return Buffer.from(content);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
