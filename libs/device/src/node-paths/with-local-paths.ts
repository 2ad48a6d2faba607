import type { Bus, CallOptions } from '@workspace-graph/bus';
import {
  type Envelope,
  getContext,
  getNode,
  getResumeInfo,
  type InputOf,
  type Operation,
  type OutputOf,
  RawJson,
  type ReplyOf,
  resolveReferences,
} from '@workspace-graph/contracts';
import type { HandoffFiles } from '../mirrors/handoff-files.js';
import type { FileService } from '../records/file-service.js';
import type { LocalPaths } from './local-paths.js';

/** Of a path, in which names of people's own making stand between slashes. */
const CHARACTERS_OF_A_TOKEN = 3;

/**
 * The bus as the surfaces of a device see it: nodes that are read tell the folder of their mirror here, and sessions that
 * can go on the file of their handoff; nodes with a folder here are known by name while nobody else can be asked. Every other
 * operation passes through untouched. No answer names a node that is gone.
 */
export function withLocalPaths(bus: Bus, paths: Paths): Bus {
  const call = async <Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    envelope: Envelope,
    options?: CallOptions,
  ): Promise<ReplyOf<Op>> => {
    const reply = await bus.call(operation, input, envelope, options).catch((error: unknown) => {
      const isName = operation.name === resolveReferences.name;
      const ids = isName ? paths.namedHere(error, input as InputOf<typeof resolveReferences>, envelope) : null;
      if (!ids) throw error;
      return { ids } as ReplyOf<Op>;
    });
    if (operation.name === getNode.name) return (await nodeWithPath(reply, { input, envelope, paths })) as ReplyOf<Op>;
    if (operation.name === getContext.name)
      return (await contextWithPath(reply, { input, envelope, paths })) as ReplyOf<Op>;
    if (operation.name === getResumeInfo.name)
      return (await withHandoffFile(reply, { input, envelope, paths })) as ReplyOf<Op>;
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

interface Paths extends Pick<LocalPaths, 'folderOfNode'> {
  readonly handoffFile: HandoffFiles['report'];
  readonly namedHere: FileService['namedHere'];
}

interface Asked {
  readonly input: unknown;
  readonly envelope: Envelope;
  readonly paths: Paths;
}

async function nodeWithPath(reply: unknown, { input, envelope, paths }: Asked): Promise<unknown> {
  const path = await pathOf(asRecord(input)['node_id'], envelope, paths);
  return path === null ? reply : { ...parsed(reply), local_path: path };
}

async function contextWithPath(reply: unknown, { input, envelope, paths }: Asked): Promise<unknown> {
  const asked = asRecord(input)['node_id'] ?? asRecord(parsed(reply)['node'])['id'];
  const path = await pathOf(asked, envelope, paths);
  return path === null ? reply : withPath(reply, path);
}

async function withHandoffFile(reply: unknown, { input, envelope, paths }: Asked): Promise<unknown> {
  const info = parsed(reply) as OutputOf<typeof getResumeInfo>;
  const sessionId = String(asRecord(input)['session_id']);
  return { ...info, handoff_file: await paths.handoffFile(sessionId, info.handoff, envelope) };
}

function withPath(reply: unknown, path: string): unknown {
  const { estimated_tokens: tokens, node, ...rest } = parsed(reply);
  const more = Math.ceil(path.length / CHARACTERS_OF_A_TOKEN);
  return { ...rest, estimated_tokens: Number(tokens) + more, node: { ...asRecord(node), local_path: path } };
}

/** Only what has a folder here is parsed. */
function parsed(reply: unknown): Readonly<Record<string, unknown>> {
  return asRecord(reply instanceof RawJson ? reply.parse() : reply);
}

async function pathOf(nodeId: unknown, envelope: Envelope, paths: Paths): Promise<string | null> {
  return typeof nodeId === 'string' ? paths.folderOfNode(nodeId.toLowerCase(), envelope) : null;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
