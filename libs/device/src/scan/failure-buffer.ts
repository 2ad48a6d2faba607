import type { WatcherError } from '@workspace-graph/contracts';

/** What could not be taken in, of each node the newest up to a number. In memory: a scan at the start finds it again. */
export class FailureBuffer {
  private readonly nodes = new Map<string, Map<string, WatcherError>>();

  constructor(private readonly perNode: number) {}

  /** The same failure again keeps its time. */
  note(nodeId: string, path: string, message: string): void {
    const failures = this.nodes.get(nodeId) ?? new Map<string, WatcherError>();
    this.nodes.set(nodeId, failures);
    if (failures.get(path)?.message === message) return;
    failures.delete(path);
    failures.set(path, { path, message, at: new Date().toISOString() });
    const [oldest] = failures.keys();
    if (failures.size > this.perNode && oldest !== undefined) failures.delete(oldest);
  }

  clear(nodeId: string, path: string): void {
    this.nodes.get(nodeId)?.delete(path);
  }

  /** Keeps those failures of a node that `keep` says. */
  retain(nodeId: string, keep: (path: string) => boolean): void {
    const failures = this.nodes.get(nodeId);
    for (const path of failures?.keys() ?? []) if (!keep(path)) failures?.delete(path);
  }

  forget(nodeId: string): void {
    this.nodes.delete(nodeId);
  }

  /** Of one node, the newest first. */
  of(nodeId: string): WatcherError[] {
    return [...(this.nodes.get(nodeId)?.values() ?? [])].reverse();
  }

  nodeIds(): string[] {
    return [...this.nodes].filter(([, failures]) => failures.size > 0).map(([nodeId]) => nodeId);
  }
}
