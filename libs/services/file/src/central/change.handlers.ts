import { Controller } from '@nestjs/common';
import {
  adoptFiles,
  createFile,
  deleteFile,
  moveFile,
  type ParsedInputOf,
  type ReplyOf,
  renameFolder,
  snapshotDocument,
  writeFile,
} from '@workspace-graph/contracts';
import { bytesOfContent, bytesOfText, pathOfNewFile } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { RemoteAdoptions } from './remote-adoptions.js';
import { RemoteDeletes } from './remote-deletes.js';
import { RemoteMoves } from './remote-moves.js';
import { RemoteRenames } from './remote-renames.js';
import { RemoteWrites } from './remote-writes.js';
import { Snapshots } from './snapshots.js';

/** Changing files for whoever has no workstation. */
@Controller()
export class CentreChangeHandlers {
  constructor(
    private readonly writes: RemoteWrites,
    private readonly moves: RemoteMoves,
    private readonly deletes: RemoteDeletes,
    private readonly snapshots: Snapshots,
  ) {}

  @Handles(createFile)
  create(input: ParsedInputOf<typeof createFile>, context: OperationContext): Promise<ReplyOf<typeof createFile>> {
    const bytes = once(bytesOfContent(input.content, input.encoding));
    const target = { nodeId: input.node_id, path: pathOfNewFile(input), field: 'filename' };
    return this.writes.create({ ...target, bytes, text: false, context, signal: context.signal });
  }

  @Handles(writeFile)
  async write(input: ParsedInputOf<typeof writeFile>, context: OperationContext): Promise<ReplyOf<typeof writeFile>> {
    const { node_id: nodeId, path, expected_sha256: ifMatch } = input;
    const bytes = once(bytesOfText(input.content, path));
    return this.writes.replace({
      nodeId,
      path,
      field: 'path',
      bytes,
      text: true,
      ifMatch,
      context,
      signal: context.signal,
    });
  }

  @Handles(snapshotDocument)
  snapshot(
    input: ParsedInputOf<typeof snapshotDocument>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof snapshotDocument>> {
    return this.snapshots.take({ input, context, signal: context.signal });
  }

  @Handles(moveFile)
  move(input: ParsedInputOf<typeof moveFile>, context: OperationContext): Promise<ReplyOf<typeof moveFile>> {
    return this.moves.run({ input, context, signal: context.signal });
  }

  @Handles(deleteFile)
  delete(input: ParsedInputOf<typeof deleteFile>, context: OperationContext): Promise<ReplyOf<typeof deleteFile>> {
    return this.deletes.run({ input, context, signal: context.signal });
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Changing many files in one call, for whoever has no workstation. */
@Controller()
export class CentreFolderHandlers {
  constructor(
    private readonly renames: RemoteRenames,
    private readonly adoptions: RemoteAdoptions,
  ) {}

  @Handles(renameFolder)
  rename(input: ParsedInputOf<typeof renameFolder>, context: OperationContext): Promise<ReplyOf<typeof renameFolder>> {
    return this.renames.run({ input, context, signal: context.signal });
  }

  @Handles(adoptFiles)
  adopt(input: ParsedInputOf<typeof adoptFiles>, context: OperationContext): Promise<ReplyOf<typeof adoptFiles>> {
    return this.adoptions.run({ input, context, signal: context.signal });
  }
}
