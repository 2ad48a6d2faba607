import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { Caller, Scope } from '@workspace-graph/contracts';
import { type Connection, currentConnection, holderOf } from './connection.js';
import type { NodeWatch, Watcher } from './node-watch.js';

type Listener = (event: ServerEvent) => void;

/**
 * The open `subscriptions/listen` streams of the newest protocol. The library asks it for events when a stream opens;
 * each stream hears only of what its own caller may see.
 */
export class StreamHub implements ServerEventBus {
  private readonly streams = new Set<Stream>();

  constructor(private readonly nodes: NodeWatch) {}

  get size(): number {
    return this.streams.size;
  }

  /** Open streams of this caller's user. */
  countOf({ user_id: userId }: Caller): number {
    return [...this.streams].filter((stream) => stream.connection.caller.user_id === userId).length;
  }

  subscribe(listener: Listener): () => void {
    const stream = new Stream(currentConnection(), listener);
    this.streams.add(stream);
    stream.watch(this.nodes);
    return () => {
      stream.end();
      this.streams.delete(stream);
    };
  }

  /** Tells every stream. */
  publish(event: ServerEvent): void {
    for (const stream of this.streams) stream.listener(event);
  }

  /** Tells the streams of this credential when its scope is no longer what it was: other tools and prompts are listed now. */
  noteScope(connection: Connection): void {
    const holder = holderOf(connection.caller);
    for (const stream of this.streams) {
      if (stream.holder === holder) stream.noteScope(connection.caller.scope);
    }
  }
}

class Stream implements Watcher {
  readonly listening = true;
  readonly holder: string;
  private scope: Scope;
  private unwatch: (() => void)[] = [];

  constructor(
    readonly connection: Connection,
    readonly listener: Listener,
  ) {
    this.holder = holderOf(connection.caller);
    this.scope = connection.caller.scope;
  }

  watch(nodes: NodeWatch): void {
    for (const node of this.connection.watching) this.unwatch.push(nodes.watch(node, this));
  }

  changed(uri: string): void {
    this.listener({ kind: 'resource_updated', uri });
  }

  noteScope(scope: Scope): void {
    if (scope === this.scope) return;
    this.scope = scope;
    this.listener({ kind: 'tools_list_changed' });
    this.listener({ kind: 'prompts_list_changed' });
  }

  end(): void {
    for (const unwatch of this.unwatch) unwatch();
    this.unwatch = [];
  }
}
