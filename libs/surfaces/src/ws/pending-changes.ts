import type { BusEvent } from '@workspace-graph/bus';
import type { BusEventPayload } from '@workspace-graph/contracts';

/** What was heard of changes and is told to nobody yet. */
export class PendingChanges {
  readonly nodes = new Set<string>();
  /** By their ends, both of which one has to see. */
  readonly edges = new Map<string, readonly [string, string]>();
  /** Nodes of files. */
  readonly files = new Set<string>();
  /** Nodes of which the folder on this device is another one, or says something else. */
  readonly syncs = new Set<string>();
  /** Nodes that are gone, with the users who saw them; null: everybody. */
  readonly gone = new Map<string, ReadonlySet<string> | null>();
  /** Who has to look at everything. */
  readonly users = new Set<string>();
  /** Everybody has to. */
  isEverything = false;

  get isEmpty(): boolean {
    const { nodes, edges, files, syncs, users } = this;
    return !this.isEverything && nodes.size + edges.size + files.size + syncs.size + users.size === 0;
  }

  /** All nodes that sight has to be known of. */
  get named(): string[] {
    return [...new Set([...this.nodes, ...this.files, ...this.syncs, ...[...this.edges.values()].flat()])];
  }

  add(event: BusEvent): void {
    if (event.type === 'graph.changed') this.addGraph(event.payload);
    else if (event.type === 'file.changed') this.files.add(event.payload.node_id);
    else if (event.type === 'sync.changed') this.syncs.add(event.payload.node_id);
    else if (event.type === 'access.changed') for (const user of event.payload.user_ids ?? []) this.users.add(user);
  }

  /** Takes over what others hold. */
  addAll({ nodes, edges, files, syncs, gone, users, isEverything }: PendingChanges): void {
    for (const id of nodes) this.nodes.add(id);
    for (const [key, ends] of edges) this.edges.set(key, ends);
    for (const id of files) this.files.add(id);
    for (const id of syncs) this.syncs.add(id);
    for (const [id, seenBy] of gone) this.addGone(id, seenBy);
    for (const user of users) this.users.add(user);
    this.isEverything ||= isEverything;
  }

  private addGraph({ node_ids, own = node_ids.length, edges = [], gone }: BusEventPayload<'graph.changed'>): void {
    for (const id of node_ids.slice(0, own)) this.nodes.add(id);
    for (const ends of edges) this.edges.set(ends.join(' '), ends);
    if (gone) this.addGone(gone.node_id, gone.seen_by && new Set(gone.seen_by));
  }

  private addGone(id: string, seenBy: ReadonlySet<string> | null): void {
    const before = this.gone.get(id);
    this.gone.set(id, seenBy === null || before === null ? null : new Set([...(before ?? []), ...seenBy]));
  }
}
