import { readFileSync } from 'node:fs';
import {
  addResponsibility,
  type Caller,
  connect,
  createActor,
  getContext,
  type OutputOf,
  updateNode,
} from '@workspace-graph/contracts';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';
import {
  largeOrganization,
  type NodeOfDocument,
  type OrganizationDocument,
} from '../testing/large-organization.fixture.js';

type Context = OutputOf<typeof getContext>;
const SAMPLE = process.env['SVC_TEST_SAMPLE'];
const document: OrganizationDocument = SAMPLE ? JSON.parse(readFileSync(SAMPLE, 'utf8')) : largeOrganization();

let graph: GraphFixture;
let agent: Caller;
let organizationId: string;
const ids = new Map<string, string>();

const isIn = (...types: readonly string[]): readonly NodeOfDocument[] =>
  document.nodes.filter(({ type }) => types.includes(type));
const read = (node_id: string, input: object = {}): Promise<Context> =>
  graph.call(getContext, { node_id, ...input }, agent);

beforeAll(async () => {
  graph = await startGraph();
  agent = { ...graph.reader, via: 'mcp' };
  const [organization] = isIn('organization');
  organizationId = (await graph.node('organization', organization?.name ?? '')).id;
  for (const { key, type, name, description } of isIn('area', 'process', 'project', 'principle')) {
    const node = await graph.node(type, name, { organization_id: organizationId, description: description ?? '' });
    ids.set(key, node.id);
  }
  for (const { from, to, relation } of document.edges) {
    const [source_id, target_id] = [ids.get(from), ids.get(to)];
    if (relation === 'belongs_to' && source_id && target_id)
      await graph.call(connect, { source_id, target_id, relation, confirmed: true }, graph.admin);
  }
});
afterAll(() => graph.close());

it('tells an organization in 2,000 tokens: every area and process in a line of at most 35, and how many more of what [graph.context.outline-cost]', async () => {
  expect(isIn('area', 'process').length).toBeGreaterThanOrEqual(35);
  const context = await read(organizationId, { max_tokens: 2_000 });
  expect(countTokens(JSON.stringify(context))).toBeLessThanOrEqual(2_200);
  for (const { name } of isIn('area', 'process')) expect(context.outline.join('\n')).toContain(`: ${name}, `);
  for (const line of context.outline)
    expect([line, countTokens(`${JSON.stringify(line)},`)]).toEqual([line, atMost(35)]);
  const shown = context.outline.length;
  expect(shown + context.left_out.nodes).toBe(document.nodes.length - 1);
  const rest = Object.values(context.left_out.types).reduce((sum: number, count) => sum + (count ?? 0), 0);
  expect(rest).toBe(context.left_out.nodes);
  expect(context.nodes).toEqual([]);
});

it('tells at the second step what the members of an organization belong to', async () => {
  const [one, two] = [await read(organizationId), await read(organizationId, { depth: 2 })];
  expect(one.outline.join('\n')).not.toContain(', in ');
  expect(two.outline.join('\n')).toMatch(/, in (areas|processes|projects)\//);
});

it('keeps responsibilities and owner of the node before the neighbours of others, and names tools', async () => {
  const owner = await graph.call(createActor, { type: 'person', name: 'Jana Lipová' }, graph.admin);
  const area = await graph.node('area', 'Busy area', {
    organization_id: organizationId,
    description: 'Long words. '.repeat(200),
  });
  await graph.call(updateNode, { node_id: area.id, owner_id: owner.id, confirmed: true }, graph.admin);
  const titles = Array.from({ length: 8 }, (_, place) => `Look after oven ${place}`);
  for (const title of titles)
    await graph.call(addResponsibility, { node_id: area.id, title, assignee_ids: [owner.id] }, graph.admin);
  const context = await read(area.id, { depth: 3, max_tokens: 1_000 });
  const text = JSON.stringify(context);
  expect(countTokens(text)).toBeLessThanOrEqual(1_100);
  expect(context.node.owner?.name).toBe('Jana Lipová');
  for (const title of titles) expect(text).toContain(title);
  expect(context.left_out.how_to_get).toContain('svc_get_node');
  const rest = await graph.call(getContext, { node_id: area.id, depth: 3, max_tokens: 1_000 }, graph.reader);
  expect(rest.left_out.how_to_get).toContain('GET /nodes/{node_id}');
});

function atMost(most: number): unknown {
  return {
    asymmetricMatch: (tokens: unknown) => typeof tokens === 'number' && tokens <= most,
    toString: () => `at most ${most}`,
  };
}

it('tells why a project is not on track, in its line and in its record, a long note by its beginning [graph.context.health-note]', async () => {
  const area = await graph.node('area', 'Yard');
  const make = async (name: string, health: 'at_risk' | 'on_track', health_note: string): Promise<void> => {
    const { id } = await graph.node('project', name, { parent_ids: [area.id] });
    await graph.call(updateNode, { node_id: id, health, health_note }, graph.admin);
  };
  await make('Late ship', 'at_risk', 'The steel\n  is late');
  await make('Long ship', 'at_risk', 'x'.repeat(150));
  await make('Ship', 'on_track', 'All is well');
  const { outline } = await read(area.id);
  expect(outline.filter((line) => line.includes('/projects/'))).toEqual([
    expect.stringContaining('Late ship, backlog, at_risk (The steel is late), '),
    expect.stringContaining(`at_risk (${'x'.repeat(100)}…), `),
    expect.stringContaining('Ship, backlog, <belongs_to'),
  ]);
  const { nodes } = await read(area.id, { form: 'records' });
  const notes = nodes.filter(({ type }) => type === 'project').map(({ health_note }) => health_note);
  expect(notes).toEqual(['The steel\n  is late', `${'x'.repeat(100)}…`, null]);
});
