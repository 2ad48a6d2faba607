import type { CallContext, Dispatch } from '@workspace-graph/bus';
import {
  type Caller,
  type GraphEvent,
  type Node,
  type NodeRef,
  type NodeSummary,
  type Operation,
  RawJson,
  readInput,
  ServiceError,
  type User,
  validationFailed,
} from '@workspace-graph/contracts';
import { userIdOf } from './fake-identity.js';

export const ORG_ID = '01890000-0000-7000-8000-000000000001';
export const NETWORK_ID = '01890000-0000-7000-8000-000000000002';
export const SECRET_ID = '01890000-0000-7000-8000-000000000003';
export const ABSENT_ID = '01890000-0000-7000-8000-00000000ffff';
const EVENT_ID = '01890000-0000-7000-8000-0000000000e1';
const AT = '2026-05-04T10:00:00.000Z';

interface SmallNode {
  readonly id: string;
  readonly type: 'organization' | 'project' | 'area';
  readonly name: string;
  /** Only this user sees it. */
  readonly onlyFor?: string;
}

type Handler = (input: Record<string, unknown>, caller: Caller, context: CallContext) => Promise<unknown> | unknown;

/** Three nodes and the operations that the MCP tests call, behind the same checks as the real services. */
export class SmallGraph {
  readonly nodes: SmallNode[] = [
    { id: ORG_ID, type: 'organization', name: 'Kubernetes' },
    { id: NETWORK_ID, type: 'area', name: 'SIG Network' },
    { id: SECRET_ID, type: 'project', name: 'Network secrets', onlyFor: userIdOf('boss') },
  ];
  /** Names of the operations called, in order. */
  readonly called: string[] = [];
  /** Who called them. */
  readonly callers: (Caller | null)[] = [];
  /** What callers gave up waiting for. */
  readonly aborted: string[] = [];
  /** Operations that wait until they are aborted. */
  readonly hanging = new Set<string>();
  /** How long each operation takes. */
  delayMs = 0;
  /** How many events a node tells of. */
  eventCount = 1;

  private readonly edits = new Map<string, number>();

  private readonly handlers: Readonly<Record<string, Handler>> = {
    get_node: ({ node_id }, caller) => new RawJson(JSON.stringify(this.whole(this.see(node_id, caller)), null, 1)),
    resolve_references: ({ references }, caller) => ({
      ids: (references as { readonly text: string }[]).map(({ text }) => {
        const node = this.visible(caller).find(({ name }) => name === text);
        if (!node) throw new ServiceError('NODE_NOT_FOUND', `There is no node ${text}.`);
        return node.id;
      }),
    }),
    get_access: ({ node_id }, caller) => ({
      node_id: this.see(node_id, caller).id,
      version: 1,
      own: null,
      effective: [],
    }),
    list_nodes: (_input, caller) => ({ items: this.visible(caller).map((node) => summary(node)), next_cursor: null }),
    suggest_nodes: ({ text }, caller) => {
      const items = this.visible(caller)
        .filter((node) => node.name.toLowerCase().includes(String(text).toLowerCase()))
        .map(ref);
      return { items, total: items.length };
    },
    get_context: ({ node_id }, caller) =>
      new RawJson(JSON.stringify(this.context(node_id ?? caller.home_node_id, caller))),
    log: ({ node_id, kind, content }, caller) => ({ ...event(this.see(node_id, caller).id), kind, content }),
    create_node: ({ name, type }) => this.whole({ id: ABSENT_ID, name: String(name), type: type as SmallNode['type'] }),
    purge_node: ({ node_id }, caller) => ({
      applied: false,
      preview: null,
      removes: { ...NOTHING, edges: this.see(node_id, caller) ? 2 : 0 },
    }),
    whoami: (_input, caller) => ({ user: user(caller), scope: caller.scope, credential_id: caller.credential_id }),
  };

  readonly dispatch: Dispatch = async (operation, input, context) => {
    this.called.push(operation.name);
    this.callers.push(context.envelope.caller);
    if (this.hanging.has(operation.name)) await this.hang(operation, context.signal);
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    const { caller } = context.envelope;
    if (!caller) throw new ServiceError('UNAUTHENTICATED', 'no caller');
    const handler = this.handlers[operation.name];
    if (!handler) throw new ServiceError('SERVICE_UNAVAILABLE', `${operation.name} is not part of the small graph`);
    return handler(readInput(operation.input, input), caller, context);
  };

  visible(caller: Caller): readonly SmallNode[] {
    return this.nodes.filter((node) => !node.onlyFor || node.onlyFor === caller.user_id);
  }

  /** Changes what is seen of a node. */
  edit(id: string): void {
    this.edits.set(id, (this.edits.get(id) ?? 0) + 1);
  }

  private see(id: unknown, caller: Caller): SmallNode {
    const node = this.visible(caller).find((candidate) => candidate.id === id);
    if (!node) throw new ServiceError('NODE_NOT_FOUND', `There is no node ${String(id)}.`);
    return node;
  }

  private whole(node: SmallNode): Node {
    return {
      ...summary(node),
      version: 1 + (this.edits.get(node.id) ?? 0),
      description: 'Ingress, services and DNS.',
      goal: '',
      sync_key: 'sig-network',
      health_report: null,
      responsibilities: [{ id: EVENT_ID, title: 'Own the service API', description: '', assignees: [] }],
      data_sources: [],
      tools: [],
      edges: { items: [], complete: true },
      recent_events: Array.from({ length: this.eventCount }, () => event(node.id)),
      access: { mode: 'everyone', inherited: true, from: [], level: 'write' },
      files: { items: [], complete: true },
      sessions: 0,
      local_path: null,
    };
  }

  private context(id: unknown, caller: Caller): Record<string, unknown> {
    if (!id) throw validationFailed([{ path: 'node_id', message: 'is required: this connection has no home node' }]);
    const node = this.see(id, caller);
    return {
      node: this.whole(node),
      outline: [],
      nodes: [],
      depth: 1,
      estimated_tokens: 300,
      complete: true,
      left_out: { nodes: 0, types: {}, more_nodes: false, hubs: [], details: 0, node: [], how_to_get: '' },
      details: [],
    };
  }

  private hang(operation: Operation, signal: AbortSignal): Promise<never> {
    return new Promise((_resolve, reject) => {
      signal.addEventListener(
        'abort',
        () => {
          this.aborted.push(operation.name);
          reject(signal.reason as Error);
        },
        { once: true },
      );
    });
  }
}

const NOTHING = {
  edges: 0,
  events: 0,
  responsibilities: 0,
  data_sources: 0,
  tools: 0,
  files: 0,
  sessions: 0,
  access_requests: 0,
  blockers: [],
};

function ref(node: SmallNode): NodeRef {
  return { id: node.id, type: node.type, name: node.name };
}

function summary(node: SmallNode): NodeSummary {
  return {
    ...ref(node),
    status: 'active',
    lifecycle: 'active',
    health: null,
    organization: null,
    owner: null,
    version: 1,
    created_at: AT,
    updated_at: AT,
  };
}

function event(nodeId: string): GraphEvent {
  return {
    id: EVENT_ID,
    node_id: nodeId,
    kind: 'milestone',
    status: 'active',
    content: 'Dual stack is stable',
    occurred_at: AT,
    logged_at: AT,
    logged_by: null,
    resolution: null,
    resolved_at: null,
    resolved_by: null,
    supersedes_id: null,
    superseded_by_id: null,
    version: 1,
  };
}

function user(caller: Caller): User {
  return {
    id: EVENT_ID,
    name: caller.user_id,
    external_id: null,
    email: null,
    handle: null,
    max_scope: caller.scope,
    claim_scope: null,
    disabled: false,
    groups: [],
    version: 1,
    created_at: AT,
    updated_at: AT,
  };
}
