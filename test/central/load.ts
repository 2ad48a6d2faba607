import { setTimeout as sleep } from 'node:timers/promises';
import {
  getNode,
  listAudit,
  listEvents,
  listNodeSessions,
  listNodes,
  logEvent,
  type Node,
} from '@workspace-graph/contracts';
import type { RestClient } from './rest-client.js';

const AT_ONCE = 8;
/** Between two requests of one: what is shown is that none fails, and a full processor shows it no better. */
const PAUSE_MS = 50;
/** Stands for an answer that never came. */
const NO_ANSWER = 0;

export interface Outcome {
  readonly status: number;
  /** `ok`, the code of the refusal, or what kept the answer away. */
  readonly code: string;
  /** When it was asked for and when it came, in milliseconds of `performance.now()`. */
  readonly sentMs: number;
  readonly atMs: number;
}

/** Requests about one node, eight at a time, spread over the clients; every second one writes. */
export class Load {
  readonly outcomes: Outcome[] = [];
  /** Texts of the writes that were answered with success. */
  readonly acknowledged: string[] = [];
  private sent = 0;
  private ended = false;

  constructor(
    private readonly clients: readonly RestClient[],
    private readonly node: Pick<Node, 'id' | 'name'>,
    /** A file of the node that is read too. */
    private readonly filePath: string | null = null,
  ) {}

  get done(): number {
    return this.outcomes.length;
  }

  get failed(): readonly Outcome[] {
    return this.outcomes.filter((outcome) => outcome.code !== 'ok');
  }

  /** Runs so many requests, or until `end`. */
  async run(requests = Number.POSITIVE_INFINITY): Promise<void> {
    const worker = async (): Promise<void> => {
      while (!this.ended && this.sent < requests) {
        await this.request(this.sent++);
        await sleep(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  end(): void {
    this.ended = true;
  }

  /** Texts of the node's events, and of the audit lines about writing them, as another client reads them. */
  async written(
    reader: RestClient,
  ): Promise<{ readonly events: readonly string[]; readonly audited: readonly string[] }> {
    const events = await allOf((page) => reader.call(listEvents, { node_id: this.node.id, limit: 500, ...page }));
    const ids = new Map(events.map((event) => [event.id, event.content]));
    const lines = await allOf((page) => reader.call(listAudit, { action: 'log', limit: 500, ...page }));
    const audited = lines.flatMap(({ target_id }) => ids.get(target_id ?? '') ?? []);
    return { events: events.map((event) => event.content).toSorted(), audited: audited.toSorted() };
  }

  private async request(index: number): Promise<void> {
    const client = this.clients[index % this.clients.length];
    if (!client) throw new Error('The load has no client');
    const content = `${this.node.name} ${index}`;
    const sentMs = performance.now();
    const note = (status: number, code: string): void =>
      void this.outcomes.push({ status, code, sentMs, atMs: performance.now() });
    try {
      const response = await this.send(client, index, content);
      const text = await response.text();
      note(response.status, response.ok ? 'ok' : (JSON.parse(text) as { code: string }).code);
      if (response.ok && isWrite(index)) this.acknowledged.push(content);
    } catch (error) {
      note(NO_ANSWER, String(error));
    }
  }

  private send(client: RestClient, index: number, content: string): Promise<Response> {
    if (isWrite(index)) return client.send(logEvent, { node_id: this.node.id, kind: 'note', content });
    if (index % 8 === 7 && this.filePath !== null)
      return client.fetch(`/nodes/${this.node.id}/file?path=${encodeURIComponent(this.filePath)}`);
    if (index % 8 === 5) return client.send(listNodeSessions, { node_id: this.node.id });
    return index % 4 === 1 ? client.send(getNode, { node_id: this.node.id }) : client.send(listNodes, { limit: 20 });
  }
}

function isWrite(index: number): boolean {
  return index % 2 === 0;
}

async function allOf<T>(
  read: (page: { cursor?: string }) => Promise<{ items: T[]; next_cursor: string | null }>,
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: T[]; next_cursor: string | null } = await read(cursor ? { cursor } : {});
    all.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return all;
}
