import {
  getContext,
  getNode,
  listEvents,
  listNodes,
  logEvent,
  type Operation,
  search,
  updateNode,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { generateLargeGraph } from '@workspace-graph/testing';
import { median } from '../measurements/figures.js';
import type { Figure } from '../report/figures.js';
import { SCALES } from '../scales.js';
import { itemAt, readWorld, type World } from '../world.js';
import { Helper } from './helper.js';
import type { AskedCall, ProductCalls } from './product.js';
import type { Stage } from './stage.js';

const MOST = 1.15;
/** Nodes of the scope; each is asked about in turn. */
const HELD = 20;
const NOTE = 'The supplier confirmed the date; the contract waits for its signature, and the board decides on Tuesday.';

interface Compared {
  readonly operation: Operation;
  readonly what: string;
  readonly input: (nodeId: string, turn: number) => unknown;
}

function comparedIn({ searches }: World): Compared[] {
  return [
    { operation: getContext, what: 'get_context of depth 1', input: (node_id) => ({ node_id, depth: 1 }) },
    { operation: getNode, what: 'get_node', input: (node_id) => ({ node_id }) },
    { operation: listNodes, what: 'list_nodes, global', input: () => ({ scope: 'global', limit: 50 }) },
    { operation: listEvents, what: 'list_events of a node', input: (node_id) => ({ node_id }) },
    { operation: search, what: 'search', input: (_node, turn) => ({ query: itemAt(searches, turn) }) },
    { operation: logEvent, what: 'log', input: (node_id) => ({ node_id, kind: 'note', content: NOTE }) },
    { operation: updateNode, what: 'update_node', input: (node_id) => ({ node_id, description: newId() }) },
  ];
}

/** The same calls of the same person, as an agent whose session holds the nodes and without a session, one after the other. */
export async function measureScope(stage: Stage): Promise<Figure[]> {
  const scale = SCALES[stage.options.scale === 'tiny' ? 'tiny' : 'default'];
  await generateLargeGraph(stage.databaseUrl, scale.graph);
  const world = await readWorld(stage.databaseUrl, scale);
  return [...(await overMcp(stage, world)), ...(await inProcess(stage, world))];
}

async function inProcess(stage: Stage, world: World): Promise<Figure[]> {
  const nodeIds = world.writableIds.slice(0, HELD);
  const free = { user_id: world.userId, scope: 'manage', credential_id: null, via: 'mcp' } as const;
  const session = { ...free, session_id: await openSession(stage, world.userId, nodeIds) };
  const figures: Figure[] = [];
  for (const { operation, what, input } of comparedIn(world)) {
    const call = (caller: AskedCall['caller'], nodeId: string, turn: number): AskedCall => ({
      operation: operation.name,
      input: input(nodeId, turn),
      caller,
    });
    const calls = nodeIds.map((id, turn) => [call(session, id, turn), call(free, id, turn + HELD)] as const);
    const took = await stage.product.call('compare', { calls, forMs: stage.options.seconds * 1_000 });
    // What a call costs without any surface is told beside; the target is that of a tool call.
    figures.push(figureOf(`${what} within the scope of a session, service alone`, took, null));
    await stage.settle();
  }
  return figures;
}

/** One process in which each agent has its session, and one in which none has; both over the same database. */
async function overMcp(stage: Stage, world: World): Promise<Figure[]> {
  // Both are new: what has run for a while is faster.
  await using recording = new Helper<ProductCalls>(new URL('./product.ts', import.meta.url));
  await using free = new Helper<ProductCalls>(new URL('./product.ts', import.meta.url));
  const started = { databaseUrl: stage.databaseUrl, poolSize: stage.poolSize };
  const { url } = await recording.call('start', { ...started, recordsSessions: true });
  const { url: freeUrl } = await free.call('start', { ...started, recordsSessions: false });
  const token = stage.administratorToken;
  const home = itemAt(world.writableIds, 0);
  const at = (where: string) => ({ url: where, token, homeNodeId: home });
  const figures: Figure[] = [];
  for (const { operation, what, input } of comparedIn(world)) {
    const name = operation.mcp?.tool;
    if (name === undefined) throw new Error(`${operation.name} is no tool`);
    const took = await stage.client.call('callTools', {
      sides: [at(url), at(freeUrl)],
      calls: Array.from({ length: HELD }, (_none, turn) => ({ name, input: input(home, turn) })),
      forMs: stage.options.seconds * 1_000,
    });
    figures.push(figureOf(`${what} within the scope of a session, tool call`, took, MOST));
    await stage.settle();
  }
  return figures;
}

function figureOf(what: string, [mine, theirs]: readonly Float64Array[], most: number | null): Figure {
  if (!mine || !theirs) throw new Error('Nothing was compared');
  const [value, beside] = [median([...mine]), median([...theirs])];
  const ratio = value / beside;
  const verdict = most === null ? null : { target: `≤ ${most}×`, reached: ratio <= most };
  return { what: `${what}, p50`, value, unit: 'ms', beside: { name: 'no session', value: beside }, ratio, verdict };
}

/** A session that may change these nodes. @returns its id */
async function openSession({ pool }: Stage, ownerId: string, nodeIds: readonly string[]): Promise<string> {
  const id = newId();
  await pool.query(
    `INSERT INTO session.session (id, node_id, owner_id, origin, name) VALUES ($1, $2, $3, 'connection', 'Bench')`,
    [id, nodeIds[0], ownerId],
  );
  await pool.query(
    `INSERT INTO session.scope (session_id, node_id, access, added_via) SELECT $1, n.id, 'write', 'seed' FROM unnest($2::uuid[]) AS n(id)`,
    [id, nodeIds],
  );
  return id;
}
