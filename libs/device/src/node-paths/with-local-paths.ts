import type { Bus, CallOptions } from '@workspace-graph/bus';
import {
  type Envelope,
  getContext,
  getNode,
  type InputOf,
  LIMITS,
  type Operation,
  RawJson,
  type ReplyOf,
} from '@workspace-graph/contracts';
import type { Mirrors } from '../mirrors/mirrors.js';

const NULL_BYTES = 4;
/** How the graph ends the text of a node: the device alone knows the folder. */
const NODE_END = /"local_path"\s?:\s?null\}\s*$/;

/**
 * The bus as the surfaces of a device see it: nodes that are read tell the folder of their mirror here. Every other
 * operation passes through untouched. Whoever sees a node may know its folder, and no answer names a node that is gone.
 */
export function withLocalPaths(bus: Bus, mirrors: Pick<Mirrors, 'of'>): Bus {
  const call = async <Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    envelope: Envelope,
    options?: CallOptions,
  ): Promise<ReplyOf<Op>> => {
    const reply = await bus.call(operation, input, envelope, options);
    if (operation.name === getNode.name) return nodeWithPath(reply, pathOf(input, 'node_id', mirrors)) as ReplyOf<Op>;
    if (operation.name === getContext.name && mayHavePath(input, envelope, mirrors))
      return contextWithPath(reply, mirrors) as ReplyOf<Op>;
    return reply;
  };
  return {
    get status() {
      return bus.status;
    },
    call,
    onStatus: (listener) => bus.onStatus(listener),
    serve: (owner, operations, dispatch) => bus.serve(owner, operations, dispatch),
    publish: (event) => bus.publish(event),
    subscribe: (types, listener, options) => bus.subscribe(types, listener, options),
    close: () => bus.close(),
  };
}

type Paths = Pick<Mirrors, 'of'>;

function nodeWithPath(reply: unknown, path: string | null): unknown {
  if (path === null) return reply;
  if (!(reply instanceof RawJson)) return { ...asRecord(reply), local_path: path };
  return new RawJson(reply.text.replace(NODE_END, () => `"local_path" : ${JSON.stringify(path)}}`));
}

/** False spares parsing an answer in which nothing is to be told. */
function mayHavePath(input: unknown, { caller }: Envelope, mirrors: Paths): boolean {
  const asked = asRecord(input)['node_id'] ?? caller?.home_node_id;
  return typeof asked !== 'string' || mirrors.of(asked.toLowerCase()) !== null;
}

function contextWithPath(reply: unknown, mirrors: Paths): unknown {
  const isRaw = reply instanceof RawJson;
  const { estimated_tokens: tokens, node, ...rest } = asRecord(isRaw ? reply.parse() : reply);
  const path = pathOf(node, 'id', mirrors);
  if (path === null) return reply;
  const more = Math.ceil((Buffer.byteLength(JSON.stringify(path)) - NULL_BYTES) / LIMITS.bytesPerToken);
  const filled = {
    ...rest,
    estimated_tokens: Number(tokens) + more,
    node: { ...asRecord(node), local_path: path },
  };
  return isRaw ? new RawJson(JSON.stringify(filled)) : filled;
}

function pathOf(record: unknown, member: string, mirrors: Paths): string | null {
  const id = asRecord(record)[member];
  return typeof id === 'string' ? (mirrors.of(id.toLowerCase())?.path ?? null) : null;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
