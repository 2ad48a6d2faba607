/**
 * One change at a time in the folder of a node: a scan step, a file operation and a move of the folder wait for each
 * other, in the order in which they came. Locks are not reentrant.
 */
export class NodeLocks {
  private readonly tails = new Map<string, Promise<void>>();

  /** Runs `work` while nobody else works in these nodes. */
  async run<T>(nodeIds: readonly string[], work: () => Promise<T>): Promise<T> {
    const ids = [...new Set(nodeIds)];
    // All places in the queues are taken at once, so that two calls never wait for each other.
    const before = Promise.all(ids.map((id) => this.tails.get(id) ?? Promise.resolve()));
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    for (const id of ids) this.tails.set(id, done);
    await before;
    try {
      return await work();
    } finally {
      release();
      for (const id of ids) if (this.tails.get(id) === done) this.tails.delete(id);
    }
  }
}
