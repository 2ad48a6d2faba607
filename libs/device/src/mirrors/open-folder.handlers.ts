import { Controller, Inject } from '@nestjs/common';
import { type OutputOf, openFolder, type ParsedInputOf, ServiceError } from '@workspace-graph/contracts';
import { folderGone } from '@workspace-graph/disk';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { callerOf } from '../records/file-service.js';
import { FolderOpener } from './folder-opener.js';
import { Mirrors } from './mirrors.js';

/** Opens folders of nodes on the screen of this device. */
@Controller()
export class OpenFolderHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(FolderOpener) private readonly opener: FolderOpener,
  ) {}

  @Handles(openFolder)
  async open(
    { node_id: nodeId }: ParsedInputOf<typeof openFolder>,
    { envelope }: OperationContext,
  ): Promise<OutputOf<typeof openFolder>> {
    const place = await this.parts.service.place(nodeId, envelope);
    if (!this.parts.localPaths.isPerson(callerOf(envelope).user_id))
      throw new ServiceError('FORBIDDEN', 'Only the person whose device this is opens folders on it.');
    const row = this.mirrors.require(place.node_id);
    if ((await this.mirrors.stateOf(row)) !== 'ready') throw folderGone();
    await this.opener.open(row.path);
    return { node_id: nodeId };
  }
}
