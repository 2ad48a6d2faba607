import {
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { getNode } from '@workspace-graph/contracts';
import { nodeIdOf } from '../references/named-ids.js';
import { askWithin } from './answer-budget.js';
import { askForIds } from './ask-for-ids.js';
import { type Connection, currentConnection, envelopeOf, type WatchedNode } from './connection.js';
import type { Guide } from './guides/guides.js';
import { fingerprintOf } from './node-fingerprint.js';
import { NODE_URI_TEMPLATE, nodeNamedBy } from './node-uri.js';
import type { OperationBus } from './operation-bus.js';
import { resourceError } from './protocol-errors.js';

/** The address of a resource takes no `max_tokens`. */
const LARGER = `${getNode.mcp?.tool} with a larger max_tokens`;

/** The guides and, by template, every visible node. */
export class Resources {
  readonly list: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[] = [
    {
      uriTemplate: NODE_URI_TEMPLATE,
      name: 'node',
      title: 'Node',
      mimeType: 'application/json',
      description:
        'One node with owner, responsibilities, data sources, tools, edges and recent events. Supports subscriptions to changes. Accepts its path or a unique name, percent-encoded, in place of the id.',
    },
  ];
  private readonly guides: ReadonlyMap<string, Guide>;

  constructor(
    guides: readonly Guide[],
    private readonly bus: OperationBus,
  ) {
    this.guides = new Map(guides.map((guide) => [guide.uri, guide]));
    this.list = guides.map(({ text, ...guide }) => ({
      ...guide,
      mimeType: 'text/markdown',
      size: Buffer.byteLength(text),
    }));
  }

  /** @throws ProtocolError for a resource that is absent or not visible, and for what the services refuse */
  async read(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    const guide = this.guides.get(uri);
    if (guide) return { contents: [{ uri, mimeType: 'text/markdown', text: guide.text }] };
    const { text } = await this.ofNode(uri, signal, (nodeId, connection) => {
      const node = { node_id: nodeId };
      const ask = (): Promise<unknown> => this.bus.call(getNode, node, envelopeOf(connection), { signal });
      return askWithin(getNode, node, ask, LARGER);
    });
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  }

  /**
   * Answers which node a client that asked to watch `uri` waits for and what it sees of it; null for a guide, which
   * never changes.
   * @throws ProtocolError for a resource that is absent or not visible
   */
  async watched(uri: string, signal: AbortSignal): Promise<WatchedNode | null> {
    if (this.guides.has(uri)) return null;
    return this.ofNode(uri, signal, async (nodeId, connection) => ({
      nodeId,
      uri,
      seen: await fingerprintOf(this.bus, nodeId, connection, signal),
    }));
  }

  private async ofNode<T>(
    uri: string,
    signal: AbortSignal,
    work: (nodeId: string, connection: Connection) => Promise<T>,
  ): Promise<T> {
    const named = nodeNamedBy(uri);
    if (named === null) throw new ResourceNotFoundError(uri);
    const connection = currentConnection();
    try {
      return await work(await nodeIdOf(named, 'uri', askForIds(this.bus, connection, { signal })), connection);
    } catch (error) {
      throw resourceError(error, uri, connection.requestId);
    }
  }
}
