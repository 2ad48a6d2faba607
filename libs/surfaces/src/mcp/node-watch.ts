import { ServiceError } from '@workspace-graph/contracts';
import { nodeIdOf } from '../references/named-ids.js';
import { askForIds } from './ask-for-ids.js';
import { type Connection, holderOf, type WatchedNode } from './connection.js';
import { fingerprintOf } from './node-fingerprint.js';
import { nodeNamedBy } from './node-uri.js';
import type { ChangeBus } from './operation-bus.js';

/** Somebody who waits for changes of nodes. */
export interface Watcher {
  /** On whose behalf: a change is one only if they see it. */
  readonly connection: Connection;
  /** False while nobody would hear it. */
  readonly listening: boolean;
  /** Tells that the resource has changed; `uri` is the one that was asked for. */
  changed(uri: string): void;
}

interface Watch extends WatchedNode {
  seen: string | null;
  readonly watcher: Watcher;
}

const LOOKS_AT_ONCE = 8;

/**
 * Tells watchers of nodes what has changed for them, gathered over a short delay. What the services say is only the
 * occasion to look: a hidden node that joins a visible one changes nothing for those who do not see it.
 */
export class NodeWatch {
  private readonly watches = new Map<string, Set<Watch>>();
  private readonly pending = new Set<string>();
  private unsubscribe: (() => Promise<void>) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private looking = false;

  constructor(
    private readonly bus: ChangeBus,
    private readonly delayMs: number,
  ) {}

  async start(): Promise<void> {
    const changes = await this.bus.subscribe(['graph.changed'], ({ payload: { node_ids } }) =>
      this.note(node_ids.length > 0 ? node_ids : this.watches.keys()),
    );
    // Who may see a node can change through others, which are not named.
    const accesses = await this.bus.subscribe(['access.changed'], () => this.note(this.watches.keys()));
    const endStatus = this.bus.onStatus((status) => {
      if (status === 'ready') this.note(this.watches.keys());
    });
    this.unsubscribe = async () => {
      endStatus();
      await Promise.all([changes.stop(), accesses.stop()]);
    };
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.pending.clear();
    this.watches.clear();
    await this.unsubscribe?.();
  }

  /** Looks at the nodes of these URIs, for watching them. One that is not there for the caller may come, if its id is named. */
  async look(uris: readonly string[], connection: Connection): Promise<WatchedNode[]> {
    const looks = await eachOf(uris, async (uri): Promise<WatchedNode[]> => {
      const nodeId = await this.find(uri, connection);
      return nodeId === null ? [] : [{ nodeId, uri, seen: await this.see(nodeId, connection) }];
    });
    return looks.flat();
  }

  /** Begins to watch a node. Returns the function that ends it. */
  watch(node: WatchedNode, watcher: Watcher): () => void {
    const watch: Watch = { ...node, watcher };
    const ofNode = this.watches.get(node.nodeId) ?? new Set<Watch>();
    this.watches.set(node.nodeId, ofNode.add(watch));
    return () => {
      if (ofNode.delete(watch) && ofNode.size === 0) this.watches.delete(node.nodeId);
    };
  }

  /** Looks at the nodes of these URIs for a watcher who hears again, and tells what has changed since they last did. */
  lookAgain(uris: Iterable<string>): void {
    const heard = new Set(uris);
    const hasOne = (watches: ReadonlySet<Watch>): boolean => [...watches].some(({ uri }) => heard.has(uri));
    this.note([...this.watches].flatMap(([nodeId, watches]) => (hasOne(watches) ? [nodeId] : [])));
  }

  private note(nodeIds: Iterable<string>): void {
    for (const nodeId of nodeIds) {
      if (this.watches.has(nodeId)) this.pending.add(nodeId);
    }
    if (this.pending.size > 0 && !this.looking)
      this.timer ??= setTimeout(() => void this.flush(), this.delayMs).unref();
  }

  private async flush(): Promise<void> {
    this.timer = undefined;
    this.looking = true;
    const due = [...this.pending].flatMap((nodeId) => [...(this.watches.get(nodeId) ?? [])]);
    this.pending.clear();
    try {
      await this.notify(due.filter(({ watcher }) => watcher.listening));
    } finally {
      this.looking = false;
      this.note([]);
    }
  }

  private async notify(due: readonly Watch[]): Promise<void> {
    // The sessions of one credential see the same.
    const sights = new Map<string, Promise<string | null>>();
    await eachOf(due, async (watch) => {
      const { nodeId, watcher } = watch;
      const { caller } = watcher.connection;
      const key = JSON.stringify([nodeId, holderOf(caller), caller.scope]);
      const looking = sights.get(key) ?? this.see(nodeId, watcher.connection);
      sights.set(key, looking);
      const seen = await looking;
      if (seen === watch.seen) return;
      watch.seen = seen;
      if (seen !== null && this.watches.get(nodeId)?.has(watch)) watcher.changed(watch.uri);
    });
  }

  private async find(uri: string, connection: Connection): Promise<string | null> {
    const named = nodeNamedBy(uri);
    if (named === null) return null;
    try {
      return await nodeIdOf(named, 'uri', askForIds(this.bus, connection, {}));
    } catch (error) {
      if (error instanceof ServiceError) return null;
      throw error;
    }
  }

  private async see(nodeId: string, connection: Connection): Promise<string | null> {
    try {
      return await fingerprintOf(this.bus, nodeId, connection);
    } catch (error) {
      // Whatever keeps the answer away, saying nothing gives nothing away.
      if (error instanceof ServiceError) return null;
      throw error;
    }
  }
}

/** Works on all items, a few at a time; answers in their order. */
async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  await Promise.all(
    Array.from({ length: LOOKS_AT_ONCE }, async () => {
      for (const [index, item] of entries) results[index] = await work(item);
    }),
  );
  return results;
}
