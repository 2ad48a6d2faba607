import { Controller } from '@nestjs/common';
import { beginPush, type OutputOf, type ParsedInputOf, storeFile } from '@workspace-graph/contracts';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { ByteServer } from './bytes/byte-server.js';
import { RemotePushes } from './remote-pushes.js';

/** What a gateway asks before a device sends a content. */
@Controller()
export class PushHandlers {
  constructor(
    private readonly pushes: RemotePushes,
    private readonly server: ByteServer,
  ) {}

  @Handles(beginPush)
  async push(push: ParsedInputOf<typeof beginPush>, context: OperationContext): Promise<OutputOf<typeof beginPush>> {
    // The change itself is an operation that everybody knows, as the audit trail tells it.
    const change = { ...context, operation: storeFile };
    const { nodeId: node_id, pushed } = await this.pushes.prepare(push, change, context.signal);
    const transfer = pushed ? null : this.server.expect({ kind: 'push', push, context: change });
    return { node_id, pushed, transfer };
  }
}
