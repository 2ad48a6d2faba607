import {
  archiveEvent,
  archiveNode,
  connect,
  createNode,
  disconnect,
  editEvent,
  explainAccess,
  getAccess,
  getActor,
  getContext,
  getEvent,
  getNode,
  getOverview,
  getSnapshot,
  listAccessRequests,
  listActors,
  listDuties,
  listEdges,
  listEvents,
  listNodes,
  listTokens,
  logEvent,
  moveNode,
  NodeStatus,
  type Operation,
  requestAccess,
  resolveEvent,
  search,
  setAccess,
  setPositions,
  suggestNodes,
  supersedeEvent,
  updateNode,
  whoami,
  withdrawAccessRequest,
} from '@workspace-graph/contracts';
import { ACTORS, baselineSql, EVENT, FILLER, NODES, RESPONSIBILITY, USERS } from './baseline.js';
import { noSecrets, plantSecrets, type Secrets, stirSecrets } from './secrets.js';
import type { Role, Surface } from './surface.js';
import { Transcript } from './transcript.js';

const ROLES: readonly Role[] = ['reader', 'writer'];
/** Paths and names of nodes that are seen, that are hidden in one world, and that never were. */
const NAMES_OF_NODES = [
  'acme',
  'acme/areas/alpha-area',
  'Alpha area',
  'Filler 3',
  'acme/areas/beta-secret',
  'Beta secret',
  'acme/projects/filler-3-secret',
  'bravo-secret',
  'Bravo secret',
  'bravo-secret/areas/alpha-secret',
  'acme/areas/never',
];
const ALL = { scope: 'global', status: NodeStatus.options } as const;

/** Makes a world, with secrets or without, and asks it everything that its readers can ask; answers what they heard. */
export async function transcribeWorld(surface: Surface, withSecrets: boolean): Promise<readonly string[]> {
  await surface.sql(baselineSql(withSecrets));
  const secrets = withSecrets ? await plantSecrets(surface) : noSecrets();
  const teller = new Teller(surface, secrets);
  for (const role of ROLES) await teller.readAll(role);
  const tokens = new Map<Role, string>();
  for (const role of ROLES) tokens.set(role, await teller.drawn(role));
  if (withSecrets) await stirSecrets(surface, secrets);
  for (const role of ROLES) await teller.drawnAgain(role, tokens.get(role) ?? '');
  for (const role of ROLES) await teller.readAll(role);
  await surface.manage(updateNode, { node_id: FILLER, name: 'Filler renamed' });
  for (const role of ROLES) await teller.drawnAgain(role, tokens.get(role) ?? '');
  for (const role of ROLES) await teller.writeAll(role);
  for (const role of ROLES) await teller.readAll(role);
  return teller.transcript.lines;
}

/** Asks in a role and writes down what is answered. */
class Teller {
  readonly transcript: Transcript;

  constructor(
    private readonly surface: Surface,
    private readonly secrets: Secrets,
  ) {
    this.transcript = new Transcript(secrets);
  }

  async readAll(role: Role): Promise<void> {
    await this.lists(role);
    await this.nodes(role);
    await this.events(role);
    await this.searches(role);
    await this.surroundings(role);
    await this.sharing(role);
  }

  /** The whole graph for drawing; answers its token. */
  async drawn(role: Role): Promise<string> {
    await this.ask(role, getSnapshot, { include_archived: false });
    const { token } = (await this.ask(role, getSnapshot, {})) as { token: string };
    return token;
  }

  async drawnAgain(role: Role, token: string): Promise<void> {
    await this.ask(role, getSnapshot, { if_none_match: token });
    await this.ask(role, getSnapshot, { since: token });
  }

  private async lists(role: Role): Promise<void> {
    const { organization, area } = this.secrets;
    const filters = [
      {},
      { type: ['area'] },
      { lifecycle: ['needs_attention', 'broken'] },
      { health: ['at_risk', 'off_track'] },
      { owner_id: ACTORS.placeholder },
      { organization_id: NODES.acme },
      { organization_id: organization },
      { parent_id: NODES.alpha },
      { parent_id: area },
      { query: 'secret' },
      { query: 'filler' },
      { order: 'created' },
      { order: 'updated' },
    ];
    for (const filter of filters) await this.ask(role, listNodes, { ...ALL, limit: 500, ...filter });
    await this.ask(role, listNodes, { scope: 'global' });
    for (const order of ['name', 'created', 'updated']) await this.pages(role, listNodes, { ...ALL, order, limit: 3 });
    await this.pages(role, listActors, { limit: 2 });
    for (const actor_id of Object.values(ACTORS)) {
      await this.ask(role, getActor, { actor_id });
      await this.ask(role, listDuties, { actor_id, status: NodeStatus.options });
    }
    await this.pages(role, listDuties, { actor_id: ACTORS.placeholder, limit: 1 });
    for (const input of [{}, { text: 'be' }, { text: 'secret' }])
      await this.ask(role, suggestNodes, { text: '', limit: 5, ...input });
    await this.ask(role, whoami, {});
    await this.ask(role, listTokens, {});
  }

  private async nodes(role: Role): Promise<void> {
    for (const node_id of [...Object.values(NODES), ...Object.values(this.secrets)]) {
      await this.ask(role, getNode, { node_id });
      await this.ask(role, listEdges, { node_id, limit: 500 });
    }
    for (const node_id of NAMES_OF_NODES) {
      await this.ask(role, getNode, { node_id });
      await this.ask(role, listNodes, { ...ALL, parent_id: node_id });
    }
    for (const user_id of ['Rita', 'Wil', 'Eve', 'Nobody'])
      await this.ask(role, explainAccess, { node_id: 'Beta project', user_id });
    for (const actor_id of ['Paul Placeholder', 'Zed the zebra keeper', 'Nobody'])
      await this.ask(role, listDuties, { actor_id });
    await this.pages(role, listEdges, { node_id: NODES.alpha, limit: 2 });
    await this.ask(role, listEdges, { node_id: NODES.beta, direction: 'incoming', relation: 'related_to' });
  }

  private async events(role: Role): Promise<void> {
    const { area, event } = this.secrets;
    for (const filter of [
      {},
      { kind: ['blocker'] },
      { status: ['superseded', 'archived'] },
      { from: '2024-03-08T00:00:00.000Z', to: '2024-03-12T00:00:00.000Z' },
    ]) {
      await this.ask(role, listEvents, { limit: 500, ...filter });
    }
    await this.pages(role, listEvents, { limit: 3 });
    for (const node_id of [NODES.beta, area]) await this.ask(role, listEvents, { node_id });
    for (const event_id of [EVENT, event]) await this.ask(role, getEvent, { event_id });
  }

  private async searches(role: Role): Promise<void> {
    for (const query of [
      'zebra',
      'secret',
      'beta',
      'filler',
      'a',
      'ze',
      'maxim zebras',
      'told',
      'herd',
      'paul',
      'zed',
      'plan',
      'far.md',
    ])
      await this.ask(role, search, { query, limit: 500 });
    for (const more of [
      { type: ['project'] },
      { include: ['event'] },
      { include: ['actor'] },
      { include: ['responsibility'] },
      { include: ['data_source', 'tool', 'file'] },
      { organization_id: NODES.acme },
      { organization_id: this.secrets.organization },
    ]) {
      await this.ask(role, search, { query: 'zebra', limit: 500, ...more });
    }
    await this.pages(role, search, { query: 'zebra', limit: 3 });
    await this.pages(role, search, { query: 'filler', limit: 2 });
  }

  private async surroundings(role: Role): Promise<void> {
    await this.ask(role, getOverview, {});
    for (const depth of [0, 1, 2, 5])
      await this.ask(role, getContext, { node_id: NODES.alpha, depth, include_archived: true });
    for (const max_tokens of [500, 900])
      await this.ask(role, getContext, { node_id: NODES.beta, depth: 3, max_tokens });
    await this.ask(role, getContext, { node_id: this.secrets.area, depth: 2 });
  }

  private async sharing(role: Role): Promise<void> {
    for (const node_id of [
      NODES.globex,
      NODES.sigma,
      NODES.gamma,
      this.secrets.area,
      this.secrets.below,
      this.secrets.organization,
    ]) {
      await this.ask(role, getAccess, { node_id });
      await this.ask(role, explainAccess, { node_id });
      await this.ask(role, explainAccess, { node_id, user_id: USERS.eve });
    }
    await this.ask(role, listAccessRequests, {});
    await this.ask(role, listAccessRequests, { mine: false });
  }

  /** What changes something, or tries to. */
  async writeAll(role: Role): Promise<void> {
    const { area, below, broken, event, edge, purged } = this.secrets;
    for (const node_id of [NODES.beta, area, broken])
      await this.ask(role, logEvent, { node_id, kind: 'note', content: 'Zebra by hand' });
    for (const event_id of [EVENT, event]) {
      await this.ask(role, editEvent, { event_id, content: 'Zebra changed' });
      await this.ask(role, resolveEvent, { event_id });
      await this.ask(role, supersedeEvent, { event_id, content: 'Zebra anew' });
      await this.ask(role, archiveEvent, { event_id });
    }
    await this.ask(role, setPositions, {
      positions: [NODES.alpha, area, below].map((node_id) => ({ node_id, x: 3, y: 3 })),
    });
    await this.requests(role, [area, below, purged, NODES.beta]);
    await this.ask(role, connect, { source_id: NODES.beta, target_id: area, relation: 'related_to' });
    await this.ask(role, disconnect, { edge_id: edge });
    await this.ask(role, createNode, { type: 'area', name: 'Mine', organization_id: this.secrets.organization });
    await this.ask(role, updateNode, { node_id: area, name: 'Mine' });
    await this.ask(role, moveNode, { node_id: NODES.beta, organization_id: this.secrets.organization });
    await this.ask(role, setAccess, { node_id: area, visibility: 'everyone' });
    await this.ask(role, archiveNode, { node_id: RESPONSIBILITY });
  }

  private async requests(role: Role, nodeIds: readonly string[]): Promise<void> {
    for (const node_id of nodeIds) {
      const made = (await this.ask(role, requestAccess, { node_id, access: 'read', reason: 'zebras' })) as
        | { id?: string }
        | undefined;
      await this.ask(role, requestAccess, { node_id, access: 'write' });
      if (made?.id !== undefined && node_id !== nodeIds[0])
        await this.ask(role, withdrawAccessRequest, { access_request_id: made.id });
    }
    await this.ask(role, listAccessRequests, {});
  }

  private async ask(role: Role, operation: Operation, input: object): Promise<unknown> {
    const { text, value } = await this.surface.tell(operation, input, role);
    this.transcript.add(`${role}: ${operation.name} ${JSON.stringify(this.withoutIds(input))}`, text);
    return value;
  }

  /** Every page of a list, one after the other. */
  private async pages(role: Role, operation: Operation, input: object): Promise<void> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = (await this.ask(role, operation, { ...input, ...(cursor === undefined ? {} : { cursor }) })) as {
        next_cursor: string | null;
      };
      cursor = page.next_cursor;
    }
  }

  /** Secrets, tokens and cursors have names and not values in the heading of an answer. */
  private withoutIds(input: object): unknown {
    const names = new Map(Object.entries(this.secrets).map(([name, id]) => [id, name]));
    return JSON.parse(
      JSON.stringify(input, (key, value: unknown) => {
        if (['if_none_match', 'since', 'access_request_id', 'cursor'].includes(key)) return '…';
        return typeof value === 'string' ? (names.get(value) ?? value) : value;
      }),
    );
  }
}
