import { Controller } from '@nestjs/common';
import {
  beginPulls,
  beginPush,
  beginPushes,
  type OutputOf,
  type ParsedInputOf,
  storeFile,
} from '@workspace-graph/contracts';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { ByteServer } from './bytes/byte-server.js';
import { RemoteFiles } from './remote-files.js';
import { RemotePushes } from './remote-pushes.js';

/** What a gateway asks before a device sends contents, or fetches them. */
@Controller()
export class PushHandlers {
  constructor(
    private readonly pushes: RemotePushes,
    private readonly server: ByteServer,
    private readonly files: RemoteFiles,
  ) {}

  @Handles(beginPush)
  async push(
    { from, ...push }: ParsedInputOf<typeof beginPush>,
    context: OperationContext,
  ): Promise<OutputOf<typeof beginPush>> {
    // The change itself is an operation that everybody knows, as the audit trail tells it.
    const change = { ...context, operation: storeFile };
    const { nodeId: node_id, pushed, received } = await this.pushes.prepare(push, change, context.signal);
    const transfer = pushed ? null : this.server.expect({ kind: 'push', push, from, context: change });
    return { node_id, pushed, transfer, received };
  }

  @Handles(beginPushes)
  async pushAll(
    { node_id: nodeId }: ParsedInputOf<typeof beginPushes>,
    context: OperationContext,
  ): Promise<OutputOf<typeof beginPushes>> {
    await this.files.writable(nodeId, context.caller);
    return { transfer: this.server.expect({ kind: 'pushes', nodeId, context: { ...context, operation: storeFile } }) };
  }

  @Handles(beginPulls)
  async pullAll(
    { node_id: nodeId, pulls }: ParsedInputOf<typeof beginPulls>,
    context: OperationContext,
  ): Promise<OutputOf<typeof beginPulls>> {
    await this.files.node(nodeId, context.caller);
    return { transfer: this.server.expect({ kind: 'pulls', nodeId, pulls, context }) };
  }
}
