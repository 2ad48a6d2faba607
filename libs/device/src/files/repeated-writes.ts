import { createHash } from 'node:crypto';
import { callIdReused, type TrackedFile } from '@workspace-graph/contracts';

/** Calls whose replies are kept, the newest ones. */
const KEPT = 1_000;

/** What a call wrote, as far as it was told by then. */
interface Write {
  readonly nodeId: string;
  readonly path: string;
  readonly reply: Promise<TrackedFile>;
}

/** Replies of calls that wrote a content, for those that are repeated because theirs was lost; kept while the device runs. */
export class RepeatedWrites {
  private readonly kept = new Map<string, Write>();

  /**
   * Writes, or answers what the same call has written. Whether the caller may write on the node is asked before.
   * @throws ServiceError CONFLICT for another content or place under the same id; what `write` throws, which is not kept
   */
  async once(
    callId: string,
    { nodeId, path }: Pick<Write, 'nodeId' | 'path'>,
    bytes: AsyncIterable<Uint8Array>,
    write: () => Promise<TrackedFile>,
  ): Promise<TrackedFile> {
    const before = this.kept.get(callId);
    const reply = await before?.reply.catch(() => null);
    if (before && reply) {
      const isSame = before.nodeId === nodeId && before.path === path && (await hashOf(bytes)) === reply.sha256;
      if (!isSame) throw callIdReused();
      return reply;
    }
    const writing = write();
    this.kept.set(callId, { nodeId, path, reply: writing });
    this.forgetOldest();
    try {
      return await writing;
    } catch (error) {
      if (this.kept.get(callId)?.reply === writing) this.kept.delete(callId);
      throw error;
    }
  }

  private forgetOldest(): void {
    for (const callId of this.kept.keys()) {
      if (this.kept.size <= KEPT) return;
      this.kept.delete(callId);
    }
  }
}

async function hashOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of bytes) hash.update(part);
  return hash.digest('hex');
}
