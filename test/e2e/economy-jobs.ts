type Row = Readonly<Record<string, unknown>>;
type Call = (tool: string, input: Row) => Promise<Row>;

/** Something that agents are asked for every day. */
export interface Job {
  readonly name: string;
  /** The node where somebody would begin it. */
  readonly home: string;
  /** What an agent that begins elsewhere has to ask for. */
  readonly reaches?: { readonly nodes: readonly string[]; readonly access: 'read' | 'write' };
  /** How often an agent elsewhere is refused that asks for nothing before: to read, and to write. Default: once. */
  readonly refusals?: number;
  readonly calls: number;
  /** Asked and answered, in tokens. */
  readonly mostTokens: number;
  readonly run: (call: Call) => Promise<void>;
}

const first = (found: unknown): Row => {
  const [item] = found as readonly Row[];
  if (!item) throw new Error('Nothing was found');
  return item;
};

/** In the organization of the demo. */
export const JOBS: readonly Job[] = [
  {
    name: 'who answers for the route planning',
    home: 'Delivery',
    reaches: { nodes: ['Delivery'], access: 'read' },
    calls: 2,
    mostTokens: 2_500,
    run: async (call) => {
      await call('svc_search', { query: 'Route planning', limit: 5 });
      await call('svc_get_node', { node_id: 'Delivery' });
    },
  },
  {
    name: 'what changed at the second oven',
    home: 'Second oven',
    reaches: { nodes: ['Second oven'], access: 'read' },
    calls: 1,
    mostTokens: 1_500,
    run: async (call) => {
      await call('svc_list_events', { node_id: 'Second oven', limit: 5 });
    },
  },
  {
    name: 'record a decision',
    home: 'Second oven',
    reaches: { nodes: ['Second oven'], access: 'write' },
    calls: 1,
    mostTokens: 700,
    run: async (call) => {
      const content = 'The chimney goes through the roof, because the fire brigade allows nothing else.';
      await call('svc_log', { node_id: 'Second oven', kind: 'decision', content });
    },
  },
  {
    name: 'make a project with an owner and duties',
    home: 'Bakehouse',
    reaches: { nodes: ['Linden Bakery', 'Bakehouse'], access: 'read' },
    calls: 3,
    mostTokens: 3_500,
    run: async (call) => {
      const made = await call('svc_create_node', {
        ...{ type: 'project', name: `Summer bread ${Math.random()}`, goal: 'Ready in June.' },
        ...{ organization_id: 'Linden Bakery', parent_ids: ['Bakehouse'], owner_id: 'Petr Dvořák' },
      });
      for (const title of ['Recipes', 'Tasting'])
        await call('svc_add_responsibility', { node_id: made['id'], title, assignee_ids: ['Tomáš Kvásek'] });
    },
  },
  {
    name: 'find a file and write into it',
    home: 'Second oven',
    reaches: { nodes: ['Second oven'], access: 'write' },
    refusals: 2,
    calls: 3,
    mostTokens: 1_500,
    run: async (call) => {
      const { hits } = await call('svc_search_files', { query: 'plan of the oven', limit: 5 });
      const { node_id, path } = first(hits);
      const { sha256 } = await call('svc_read_file', { node_id, path });
      const content = `The plan of the oven: the chimney is next. ${Math.random()}`;
      await call('svc_write_file', { node_id, path, content, expected_sha256: sha256 });
    },
  },
  {
    name: 'explain who sees the shop, and why',
    home: 'Shop',
    reaches: { nodes: ['Shop'], access: 'read' },
    calls: 1,
    mostTokens: 800,
    run: async (call) => {
      await call('svc_explain_access', { node_id: 'Shop' });
    },
  },
  {
    name: 'supersede a decision',
    home: 'Morning delivery',
    reaches: { nodes: ['Morning delivery'], access: 'write' },
    refusals: 2,
    calls: 2,
    mostTokens: 1_500,
    run: async (call) => {
      const decisions = { node_id: 'Morning delivery', kind: 'decision', limit: 1 };
      const { id } = first((await call('svc_list_events', decisions))['items']);
      await call('svc_supersede_event', { event_id: id, content: 'On market days route 3 starts at the mill.' });
    },
  },
  {
    name: 'what is at risk',
    home: 'Linden Bakery',
    calls: 1,
    mostTokens: 2_300,
    run: async (call) => {
      await call('svc_get_overview', { max_tokens: 2_000 });
    },
  },
  {
    name: 'an outline in 2,000 tokens',
    home: 'Linden Bakery',
    reaches: { nodes: ['Linden Bakery'], access: 'read' },
    calls: 1,
    mostTokens: 2_300,
    run: async (call) => {
      await call('svc_get_context', { node_id: 'Linden Bakery', depth: 2, max_tokens: 2_000 });
    },
  },
  {
    name: 'give a duty to somebody else',
    home: 'Delivery',
    reaches: { nodes: ['Delivery'], access: 'write' },
    refusals: 2,
    calls: 2,
    mostTokens: 2_000,
    run: async (call) => {
      const { responsibilities } = await call('svc_get_node', { node_id: 'Delivery' });
      const { id } = first(responsibilities);
      await call('svc_update_responsibility', { responsibility_id: id, assignee_ids: ['Ema Novotná'] });
    },
  },
];
