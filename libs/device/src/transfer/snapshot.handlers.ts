import { Controller, Inject } from '@nestjs/common';
import { errorOf, type OutputOf, type ParsedInputOf, ServiceError, snapshotDocument } from '@workspace-graph/contracts';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { NodeFolders } from '../files/node-folders.js';
import { BatchPulls } from './batch-pulls.js';
import { CENTRAL_FILES, type CentralFiles } from './central-files.js';

/** Documents of cloud services, of which the centre makes files: those of nodes with a folder here come into it. */
@Controller()
export class SnapshotHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(CENTRAL_FILES) private readonly centre: CentralFiles,
    @Inject(NodeFolders) private readonly folders: NodeFolders,
    @Inject(BatchPulls) private readonly pulls: BatchPulls,
  ) {}

  @Handles(snapshotDocument)
  async snapshot(
    input: ParsedInputOf<typeof snapshotDocument>,
    { envelope, signal }: OperationContext,
  ): Promise<OutputOf<typeof snapshotDocument>> {
    const made = await this.centre.snapshot(input, envelope, signal);
    try {
      return { ...made, local_path: await this.bring(made.file_id, { envelope, signal }) };
    } catch (error) {
      // The file is made; whoever wants it here can pull it.
      if (!(error instanceof ServiceError) || signal.aborted) throw error;
      if (error.code !== 'NO_MIRROR') this.parts.logger.warn({ err: error }, 'a snapshot could not be fetched');
      return made;
    }
  }

  /** Where the file lies here, as far as the caller may be told. @throws ServiceError NO_MIRROR, as a pull */
  private async bring(
    fileId: string,
    { envelope, signal }: Pick<OperationContext, 'envelope' | 'signal'>,
  ): Promise<string | null> {
    const { file } = await this.folders.file(fileId, envelope);
    const row = await this.folders.writable(file.node_id, envelope);
    const outcome = (await this.pulls.pull(row, { files: [file], force: false }, { envelope, signal })).get(fileId);
    if (!outcome) return null;
    if ('refused' in outcome) throw errorOf(outcome.refused);
    return (await this.folders.answerById(fileId, envelope)).local_path;
  }
}
