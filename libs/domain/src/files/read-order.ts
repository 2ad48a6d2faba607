/** Files whose text is to be read. What was told last comes first, so that nothing new waits for a backlog. */
export class ReadOrder implements Iterable<string> {
  private readonly groups: Set<string>[] = [];
  private readonly groupOf = new Map<string, Set<string>>();

  get size(): number {
    return this.groupOf.size;
  }

  /** Files that are told together keep their order. */
  add(fileIds: readonly string[]): void {
    const group = new Set(fileIds);
    for (const fileId of group) {
      this.delete(fileId);
      this.groupOf.set(fileId, group);
    }
    if (group.size > 0) this.groups.push(group);
  }

  delete(fileId: string): void {
    this.groupOf.get(fileId)?.delete(fileId);
    this.groupOf.delete(fileId);
    while (this.groups.at(-1)?.size === 0) this.groups.pop();
  }

  *[Symbol.iterator](): Generator<string> {
    for (let at = this.groups.length - 1; at >= 0; at -= 1) yield* this.groups[at] ?? [];
  }
}
