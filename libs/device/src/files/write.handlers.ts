import { Controller } from '@nestjs/common';
import { createFile, type ParsedInputOf, type ReplyOf, writeFile } from '@workspace-graph/contracts';
import { bytesOfContent, bytesOfText, pathOfNewFile } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { FileChanges } from './file-changes.js';

/** Files that are written inline. */
@Controller()
export class WriteHandlers {
  constructor(private readonly changes: FileChanges) {}

  @Handles(createFile)
  create(
    input: ParsedInputOf<typeof createFile>,
    { envelope, operation, signal }: OperationContext,
  ): Promise<ReplyOf<typeof createFile>> {
    const bytes = bytesOfContent(input.content, input.encoding);
    const path = pathOfNewFile(input);
    const target = { nodeId: input.node_id, path, field: 'filename' };
    return this.changes.createFrom(target, once(bytes), { envelope, action: operation.name, signal });
  }

  @Handles(writeFile)
  async write(
    { node_id, path, content, expected_sha256 }: ParsedInputOf<typeof writeFile>,
    { envelope, operation, signal }: OperationContext,
  ): Promise<ReplyOf<typeof writeFile>> {
    const bytes = bytesOfText(content, path);
    const options = { envelope, action: operation.name, signal, text: true, ifMatch: expected_sha256 };
    return this.changes.replaceFrom({ nodeId: node_id, path }, once(bytes), options);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
