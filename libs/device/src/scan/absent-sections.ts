/** Time in which somebody who moved a section away, or has it replaced, may bring it back. */
export const ABSENCE_MS = 10_000;

/** Sections of mirrors that are not there, and since when: only after a while that means that their files were deleted. */
export class AbsentSections {
  private readonly since = new Map<string, Map<string, number>>();

  constructor(private readonly graceMs: number) {}

  /** When the absence of a section counts as deletion, in milliseconds of `performance.now()`; it began now unless known. */
  dueAt(nodeId: string, section: string): number {
    const ofNode = this.since.get(nodeId) ?? new Map<string, number>();
    const since = ofNode.get(section) ?? performance.now();
    this.since.set(nodeId, ofNode.set(section, since));
    return since + this.graceMs;
  }

  /** The section is there, or nothing of it is known any more. */
  isBack(nodeId: string, section: string): void {
    this.since.get(nodeId)?.delete(section);
  }

  forget(nodeId: string): void {
    this.since.delete(nodeId);
  }
}
