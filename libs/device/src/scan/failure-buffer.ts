import type { WatcherError } from '@workspace-graph/contracts';

/** What could not be taken in, of each node the newest up to a number. In memory: a scan at the start finds it again. */
export class FailureBuffer {
  private readonly nodes = new Map<string, Map<string, WatcherError>>();
  private readonly listeners = new Set<(nodeId: string) => void>();

  constructor(private readonly perNode: number) {}

  /** Told of each node whose failures are others now. Returns the function that ends listening. */
  onChange(listener: (nodeId: string) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** The same failure again keeps its time. */
  note(nodeId: string, path: string, message: string): void {
    const failures = this.nodes.get(nodeId) ?? new Map<string, WatcherError>();
    this.nodes.set(nodeId, failures);
    if (failures.get(path)?.message === message) return;
    failures.delete(path);
    failures.set(path, { path, message, at: new Date().toISOString() });
    const [oldest] = failures.keys();
    if (failures.size > this.perNode && oldest !== undefined) failures.delete(oldest);
    this.changed(nodeId);
  }

  clear(nodeId: string, path: string): void {
    if (this.nodes.get(nodeId)?.delete(path)) this.changed(nodeId);
  }

  /** Keeps those failures of a node that `keep` says. */
  retain(nodeId: string, keep: (path: string) => boolean): void {
    const failures = this.nodes.get(nodeId);
    const gone = [...(failures?.keys() ?? [])].filter((path) => !keep(path));
    for (const path of gone) failures?.delete(path);
    if (gone.length > 0) this.changed(nodeId);
  }

  forget(nodeId: string): void {
    if (this.nodes.delete(nodeId)) this.changed(nodeId);
  }

  /** Of one node, the newest first. */
  of(nodeId: string): WatcherError[] {
    return [...(this.nodes.get(nodeId)?.values() ?? [])].reverse();
  }

  nodeIds(): string[] {
    return [...this.nodes].filter(([, failures]) => failures.size > 0).map(([nodeId]) => nodeId);
  }

  private changed(nodeId: string): void {
    for (const listener of this.listeners) listener(nodeId);
  }
}
