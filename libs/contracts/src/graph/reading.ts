import { z } from 'zod';
import { Coordinate, Id, listOf, MaxTokens, page, paging, Query, Timestamp } from '../common.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';
import { AgentName, ScopeAccess, ScopeAddedVia, SessionRef, SessionState } from '../session/vocabulary.js';
import { AccessRequest } from './access.js';
import { ActorRef } from './actors.js';
import { Link, Responsibility } from './carried.js';
import { GraphEvent } from './events.js';
import { Node, NodeRef, NodeSummary } from './nodes.js';
import { Health, Lifecycle, NodeType, Relation } from './vocabulary.js';

const tag = 'Reading';

/** What a search finds. */
export const HitKind = z.enum(['node', 'actor', 'responsibility', 'data_source', 'tool', 'file', 'event']);
export type HitKind = z.infer<typeof HitKind>;

/** A match of the search. `snippet` marks matched words with « and ». */
export const SearchHit = z.strictObject({
  kind: HitKind,
  node: NodeRef.nullable().describe('The matching node, or the node of the matching item; null for an actor.'),
  item_id: Id.nullable().describe('Id of the matching item; null when the node itself matches.'),
  matched: z
    .enum(['name', 'text'])
    .describe(
      'name: the name of a node, actor, data source, tool or file matches; text: a description, goal, event or responsibility.',
    ),
  snippet: z.string(),
  holders: z.array(ActorRef).optional().describe('Actors who hold the responsibility; only for a responsibility.'),
  score: z.number().describe('Higher is better; comparable within one answer.'),
});

export const search = query({
  name: 'search',
  owner: 'graph',
  tier: 'read',
  reach: { organization_id: 'free' },
  doc: 'Search everything you may see, best match first. Names of nodes, actors, data sources, tools and files match by any part; descriptions, goals, events and responsibilities by whole words (the last word also by its beginning), responsibilities also by their holders. Ignores case and diacritics; "quotes" search for a phrase, OR for either term, a leading - excludes a word. Omits superseded and archived events.',
  input: z.strictObject({
    query: Query.trim().min(1, 'must not be empty'),
    type: listOf(NodeType).optional().describe('Only nodes of these types and their items.'),
    organization_id: Id.optional(),
    include: listOf(HitKind).optional(),
    ...paging,
  }),
  output: page(SearchHit),
  rest: { method: 'GET', path: '/search', tag },
  mcp: { tool: 'svc_search', title: 'Search the graph' },
});

/** A node of the outline of a context answer, as a record. */
export const ContextNode = z.strictObject({
  ...NodeRef.shape,
  lifecycle: Lifecycle,
  health: Health.nullable(),
  health_note: z.string().nullable().describe('Why the health is not on_track; a long note is cut.'),
  depth: z.int().describe('Steps from the requested node.'),
  via: z
    .array(z.strictObject({ from: Id, relation: Relation, direction: z.enum(['outgoing', 'incoming']) }))
    .describe('Edges to nodes one step nearer; outgoing: the edge leads from the nearer node to this one.'),
  owner: z.string().nullable(),
});

/** What a context answer tells of a node beyond its line in the outline. */
export const ContextDetails = z.strictObject({
  node_id: Id,
  description: z.string(),
  goal: z.string(),
  responsibilities: z.array(Responsibility),
  data_sources: z.array(Link),
  tools: z.array(Link),
  recent_events: z.array(GraphEvent).describe('The three newest.'),
});

/** Parts of the node itself that can be shortened for size. */
export const CONTEXT_PARTS = [
  'edges',
  'recent_events',
  'files',
  'responsibilities',
  'data_sources',
  'tools',
  'description',
  'goal',
] as const;

export const Context = z.strictObject({
  depth: z.int(),
  estimated_tokens: z.int().describe('Size of this answer as JSON, within 10% of what models count.'),
  complete: z.boolean().describe('False when anything was omitted.'),
  left_out: z.strictObject({
    nodes: z.int().describe('Visible nodes within the depth that are not shown.'),
    types: z.partialRecord(NodeType, z.int()).describe('Their number by type.'),
    more_nodes: z
      .boolean()
      .describe('True when there may be more than were counted: behind nodes with many neighbours, or further away.'),
    hubs: z
      .array(z.string())
      .describe(
        'References of the nearest five nodes with more neighbours than were read; list_edges returns all neighbours.',
      ),
    details: z.int().describe('Number of nodes in the outline without details.'),
    node: z
      .array(z.enum(CONTEXT_PARTS))
      .describe('Parts of the node itself that are shortened; get_node returns them in full.'),
    how_to_get: z.string().describe('What to call for the rest; empty when nothing is omitted.'),
  }),
  outline: z
    .array(z.string())
    .describe(
      'The surroundings, nearest first, one line for each node: reference, name, lifecycle, health with its note unless on_track, edges, owner. >applies: an edge from the requested node to this one; <applies: the reverse; followed by the nearer node if that is not the requested one. Calls accept a reference as node_id. Empty in the form of records.',
    ),
  nodes: z.array(ContextNode).describe('The outline as records; empty in the form of lines.'),
  responsibilities: z
    .array(z.string())
    .optional()
    .describe('Responsibilities of the node with their holders, one line each, when there is no room for records.'),
  node: Node.describe('The requested node, in full unless left_out.node lists shortened parts.'),
  recent_sessions: z
    .array(
      z.strictObject({
        ...SessionRef.shape,
        state: SessionState,
        at: Timestamp.describe('Of its last activity.'),
        handoff: z.string().nullable().describe('Title of its last handoff.'),
        changes: z
          .record(z.string(), z.int())
          .describe('What it changed of the node and its timeline: operations, and how often.'),
      }),
    )
    .describe('Other sessions that may change the node, the last three.'),
  details: z
    .array(ContextDetails)
    .describe('Details of the nodes in the outline, nearest first, as far as max_tokens allows.'),
});

export const getContext = query({
  name: 'get_context',
  owner: 'graph',
  tier: 'read',
  reach: { node_id: 'read' },
  doc: 'Read a node with its surroundings to a depth of up to 5 in one call: first an outline of every node, then details, nearest first, as far as max_tokens allows.',
  input: z.strictObject({
    node_id: Id.optional().describe('Defaults to the home node of the connection.'),
    depth: z.int().min(0).max(LIMITS.contextDepthMax).default(1),
    relation: listOf(Relation).optional().describe('Follow only these relations.'),
    include_archived: z.boolean().default(false),
    form: z
      .enum(['lines', 'records'])
      .optional()
      .describe(
        'Form of the outline: lines, or records with ids, which cost more. Default: lines on MCP, records on REST.',
      ),
    max_tokens: MaxTokens,
  }),
  output: Context,
  errors: ['NODE_NOT_FOUND'],
  rest: { method: 'GET', path: '/context', tag },
  mcp: { tool: 'svc_get_context', title: 'Read context' },
});

/**
 * The graph as columns, for drawing. Row i of every node column is one node; edges are triples
 * (source row, target row, index into `relations`) in one flat array.
 */
export const Snapshot = z.strictObject({
  token: z.string().describe('Send it as `since` to get only what changed.'),
  full: z
    .boolean()
    .describe(
      'True: the whole graph. False: `nodes` are the added and changed nodes, and `removed` lists the removed ones.',
    ),
  types: z.array(NodeType).describe('Names that the codes in nodes.type stand for.'),
  lifecycles: z.array(Lifecycle),
  relations: z.array(Relation),
  nodes: z.strictObject({
    id: z.array(Id),
    name: z.array(z.string()),
    type: z.array(z.int()),
    lifecycle: z.array(z.int()),
    health: z.array(z.int()).describe('-1 none, 0 on_track, 1 at_risk, 2 off_track.'),
    organization: z.array(z.int()).describe('Index into organizations, -1 for none.'),
    x: z.array(z.number().nullable()),
    y: z.array(z.number().nullable()),
  }),
  organizations: z.array(Id).describe('Ids of the organizations that nodes.organization points to.'),
  edges: z.array(z.int()).describe('Full answer: triples of source row, target row, relation.'),
  edges_added: z.array(z.tuple([Id, Id, z.int()])).describe('Delta: source id, target id, relation.'),
  edges_removed: z.array(z.tuple([Id, Id, z.int()])),
  removed: z.array(Id).describe('Delta: nodes that were removed or are no longer visible.'),
});

export const getSnapshot = query({
  name: 'get_snapshot',
  owner: 'graph',
  tier: 'read',
  reach: {},
  doc: 'Read the whole visible graph as compact columns, or what changed since a token. An unknown or expired token returns the whole graph.',
  input: z.strictObject({
    include_archived: z.boolean().default(true),
    since: z.string().max(200).optional(),
    if_none_match: z
      .string()
      .max(200)
      .optional()
      .describe('On REST the If-None-Match header; an unchanged graph returns 304.'),
  }),
  output: z.union([Snapshot, z.strictObject({ token: z.string(), unchanged: z.literal(true) })]),
  timeoutMs: 30_000,
  rest: { method: 'GET', path: '/graph', tag, unused: ['if_none_match'] },
});

export const setPositions = command({
  name: 'set_positions',
  owner: 'graph',
  tier: 'write',
  reach: { positions: 'write' },
  idempotent: true,
  doc: 'Save where nodes are drawn, for all users. Ids of unknown and invisible nodes are skipped; a call with their names or paths is refused.',
  input: z.strictObject({
    positions: z
      .array(z.strictObject({ node_id: Id, x: Coordinate, y: Coordinate }))
      .min(1)
      .max(LIMITS.positionsPerCall),
  }),
  output: z.strictObject({ saved: z.int() }),
  rest: { method: 'PUT', path: '/graph/positions', tag },
  mcp: { tool: 'svc_set_positions', title: 'Place nodes in the drawing' },
});

const AttentionNode = z.strictObject({
  node: NodeRef,
  lifecycle: Lifecycle,
  health: Health.nullable(),
  note: z.string().nullable().describe('Note on the health of a project.'),
  since: Timestamp.describe('When it got this lifecycle or health.'),
});

/** A move or delete of a file that failed half-way. */
const StuckOperation = z.strictObject({
  id: Id,
  node: NodeRef.describe('The node of the file.'),
  file_id: Id,
  kind: z.enum(['move', 'delete']),
  path: z.string().describe('Former path within its node.'),
  to_path: z.string().nullable().describe('Target path of a move; null for a delete.'),
  message: z.string().describe('Reason of the last failure.'),
  attempts: z.int(),
  since: Timestamp,
});

/** The same data give the same overview: it holds no time of its own and nothing that was made up. */
export const Overview = z.strictObject({
  attention: z.strictObject({
    processes: z.array(AttentionNode).describe('At risk or broken, last changed first.'),
    areas: z.array(AttentionNode).describe('Areas that need attention, last changed first.'),
    projects: z.array(AttentionNode).describe('Active projects whose health is not on_track, last changed first.'),
    access_requests: z
      .array(AccessRequest.extend({ node: NodeRef }))
      .describe('Pending requests for existing nodes, newest first; empty without manage.'),
    own_access_requests: z
      .array(AccessRequest)
      .describe('Your own pending requests, newest first; the nodes are named by id alone.'),
    stuck_operations: z
      .array(StuckOperation)
      .describe('Moves and deletes of files that were interrupted and are retried, newest first.'),
    complete: z
      .boolean()
      .describe('False when a list here is cut at 200; list_nodes and list_access_requests return all.'),
  }),
  recent_activity: z
    .array(
      z.strictObject({
        at: Timestamp,
        node: NodeRef,
        event: GraphEvent.nullable(),
        session_write: z
          .strictObject({ session: SessionRef, added_via: ScopeAddedVia, agent: AgentName })
          .nullable()
          .describe('A session that may change the node from then on.'),
      }),
    )
    .describe(
      'Active and resolved events, and nodes that joined the write scope of a session; newest first, at most 30.',
    ),
  sessions: z
    .strictObject({
      items: z.array(
        z.strictObject({
          ...SessionRef.shape,
          state: SessionState,
          node: NodeRef.nullable(),
          is_own: z.boolean(),
          is_live: z.boolean(),
          waiting_since: Timestamp.nullable().describe('Set while a question is open.'),
          last_activity_at: Timestamp,
          agent: AgentName,
        }),
      ),
      complete: z.boolean().describe('False when there are more than 50; list_sessions returns all.'),
    })
    .describe(
      'Open sessions: your own with a question, running, suspended; then those of others by their last activity.',
    ),
  review: z
    .strictObject({
      items: z.array(
        z.strictObject({
          session: SessionRef,
          node: NodeRef,
          access: ScopeAccess,
          reason: z.string().nullable(),
          added_at: Timestamp,
        }),
      ),
      complete: z.boolean().describe('False when there are more than 50.'),
    })
    .describe(
      'Nodes that agents brought in without an edge from the rest of their session, for you to accept or reject.',
    ),
  new_nodes: z
    .array(
      z.strictObject({
        ...NodeSummary.shape,
        created_by: z.string().nullable().describe('Name of the user; null when the system created it.'),
        by_agent: z.boolean().describe('Created through MCP or by a runner rather than by a person.'),
      }),
    )
    .describe('Newest first, at most 20.'),
});

export const getOverview = query({
  name: 'get_overview',
  owner: 'graph',
  tier: 'read',
  reach: {},
  doc: 'Read what needs attention, recent activity, open sessions and new nodes, across everything you may see.',
  input: z.strictObject({}),
  output: Overview,
  rest: { method: 'GET', path: '/overview', tag },
  mcp: {
    tool: 'svc_get_overview',
    title: 'Read overview',
    more: 'svc_list_sessions, svc_list_events, svc_list_access_requests, and svc_list_nodes with scope: "global"',
  },
});

/** Ids by the beginning of a name, for completions. */
export const suggestNodes = query({
  name: 'suggest_nodes',
  owner: 'graph',
  tier: 'read',
  reach: {},
  doc: 'Suggest visible nodes whose name contains the text, best match first.',
  input: z.strictObject({ text: Query, limit: z.int().min(1).max(100).default(20) }),
  output: z.strictObject({ items: z.array(NodeRef), total: z.int() }),
  rest: { method: 'GET', path: '/nodes:suggest', tag },
});
