import {
  addDataSource,
  addResponsibility,
  addTool,
  type Caller,
  type InputOf,
  type OutputOf,
  search,
  updateActor,
  updateResponsibility,
} from '@workspace-graph/contracts';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

type Hit = OutputOf<typeof search>['items'][number];

let graph: GraphFixture;
let network: NodeAnswer;

beforeAll(async () => {
  graph = await startGraph();
  network = await graph.node('area', 'SIG Network');
});
afterAll(() => graph.close());

const find = async (
  query: string,
  extra: Partial<InputOf<typeof search>> = {},
  caller: Caller = graph.reader,
): Promise<Hit[]> => (await graph.call(search, { query, ...extra }, caller)).items;
const kinds = (hits: readonly Hit[]): string[] => hits.map(({ kind }) => kind);
const answerFor = (node: NodeAnswer, title: string, ...actors: { readonly id: string }[]): Promise<{ id: string }> =>
  graph.call(addResponsibility, { node_id: node.id, title, assignee_ids: actors.map(({ id }) => id) }, graph.admin);

describe('searching responsibilities', () => {
  it('finds them by their words and tells who holds them [graph.search.every-kind]', async () => {
    const [bowei, guido] = [await graph.actor('bowei'), await graph.actor('Guicassolato')];
    const chair = await answerFor(network, 'Chair of Network', bowei, guido);
    const [first] = await find('chair of network');
    expect(first).toEqual({
      kind: 'responsibility',
      node: { id: network.id, type: 'area', name: 'SIG Network' },
      item_id: chair.id,
      matched: 'text',
      snippet: '«Chair» «of» «Network»: bowei, Guicassolato',
      holders: [
        { id: bowei.id, type: 'person', name: 'bowei' },
        { id: guido.id, type: 'person', name: 'Guicassolato' },
      ],
      score: expect.any(Number),
    });
  });

  it('finds them by words that stand partly in their title, partly in the names of who holds them and of their node', async () => {
    const [antonio, bea] = [await graph.actor('aojea'), await graph.actor('Bea Dvořák')];
    const windows = await graph.node('area', 'SIG Windows');
    const lead = await answerFor(windows, 'Lead of the tests', antonio);
    const notes = await answerFor(windows, 'Notes of meetings', bea);
    const found = async (query: string): Promise<(string | null)[]> =>
      (await find(query, { include: ['responsibility'] })).map(({ item_id }) => item_id);
    expect(await found('lead aojea')).toEqual([lead.id]);
    expect(await found('sig windows lead')).toEqual([lead.id]);
    expect(await found('dvorak windows')).toEqual([notes.id]);
    expect(await found('notes bea sig windows')).toEqual([notes.id]);
    expect(await found('notes aojea')).toEqual([]);
    // A node alone is no reason to answer with all that people do there.
    expect(await found('sig windows')).toEqual([]);
    expect(await found('lead -aojea windows')).toEqual([]);
    expect(await found('"lead windows"')).toEqual([]);
    const [first] = await find('bea notes windows');
    expect(first).toMatchObject({ kind: 'responsibility', snippet: '«Notes» of meetings: «Bea» Dvořák' });
  });

  it('finds those of a person by a part of their name, after the person', async () => {
    const held = await answerFor(network, 'Keeps the gateway', await graph.actor('Tomáš Hočkin'));
    const hits = await find('hockin');
    expect(kinds(hits)).toEqual(['actor', 'responsibility']);
    expect(hits[0]).toMatchObject({ node: null, matched: 'name', snippet: 'Tomáš «Hočkin»' });
    expect(hits[1]).toMatchObject({ item_id: held.id, snippet: 'Keeps the gateway: Tomáš «Hočkin»' });
    expect(hits[0]).not.toHaveProperty('holders');
  });

  it('finds a person by their handle as it is written elsewhere [graph.search.every-kind]', async () => {
    const held = await answerFor(network, 'Keeps the bridge', await graph.actor('danwinship'));
    const hits = await find('@danwin');
    expect(hits.map(({ kind, snippet }) => [kind, snippet])).toEqual([
      ['actor', '«danwin»ship'],
      ['responsibility', 'Keeps the bridge: «danwinship»'],
    ]);
    expect(hits[1]?.item_id).toBe(held.id);
  });

  it('looks into descriptions, and follows a change of text, of holder and of name at once', async () => {
    const kim = await graph.actor('Kimberly');
    const duty = await answerFor(network, 'Quay', kim);
    const change = (fields: object): Promise<unknown> =>
      graph.call(updateResponsibility, { responsibility_id: duty.id, ...fields }, graph.admin);
    await change({ description: 'Watches the sluice at night' });
    expect(await find('sluice')).toMatchObject([{ item_id: duty.id, snippet: 'Watches the «sluice» at night' }]);
    await change({ description: '', title: 'Harbour' });
    expect([await find('sluice'), kinds(await find('harbour'))]).toEqual([[], ['responsibility']]);
    await graph.call(updateActor, { actor_id: kim.id, name: 'Kimiko' }, graph.admin);
    expect([await find('kimberly'), kinds(await find('kimiko'))]).toEqual([[], ['actor', 'responsibility']]);
    await change({ assignee_ids: [] });
    expect(await find('kimiko')).toEqual([]);
    expect(kinds(await find('kimiko', {}, graph.admin))).toEqual(['actor']);
  });
});

describe('searching what nodes carry', () => {
  it('finds data sources, tools and files by parts of their names, after responsibilities [graph.search.every-kind]', async () => {
    const held = await answerFor(network, 'Příkop');
    const source = await graph.call(
      addDataSource,
      { node_id: network.id, name: 'Velký příkop', url: 'https://example.org/moat' },
      graph.admin,
    );
    const tool = await graph.call(addTool, { node_id: network.id, name: 'Měřič příkopů' }, graph.admin);
    const file = await graph.file(network.id, 'wip/stavby/Plán příkopu.md');
    await graph.file(network.id, 'wip/příkop/jiné.md');
    const hits = await find('prikop');
    expect(hits.map(({ kind, item_id, matched, snippet }) => [kind, item_id, matched, snippet])).toEqual([
      ['responsibility', held.id, 'text', '«Příkop»'],
      ['data_source', source.id, 'name', 'Velký «příkop»'],
      ['tool', tool.id, 'name', 'Měřič «příkop»ů'],
      ['file', file, 'name', 'wip/stavby/Plán «příkop»u.md'],
    ]);
    expect(hits.every((hit) => hit.node?.id === network.id)).toBe(true);
    expect(kinds(await find('prikop', { include: ['tool', 'file'] }))).toEqual(['tool', 'file']);
    expect(kinds(await find('PLÁN md', { include: ['file'] }))).toEqual(['file']);
    expect(await find('prikop', { include: [] })).toEqual([]);
  });

  it('finds names of one or two letters', async () => {
    const file = await graph.file(network.id, 'outputs/cv.pdf');
    expect((await find('cv')).map(({ item_id }) => item_id)).toEqual([file]);
  });

  it('narrows by type and organization, which leaves actors out', async () => {
    const other = await graph.node('organization', 'Elsewhere');
    const project = await graph.node('project', 'Mole', { organization_id: other.id });
    const beaver = await graph.actor('Beaver');
    await answerFor(project, 'Beaver dam', beaver);
    await graph.file(network.id, 'wip/beaver.md');
    expect(kinds(await find('beaver'))).toEqual(['actor', 'responsibility', 'file']);
    expect(kinds(await find('beaver', { type: ['project'] }))).toEqual(['responsibility']);
    expect(kinds(await find('beaver', { organization_id: graph.organization.id }))).toEqual(['file']);
    expect(await find('beaver', { include: ['actor'], type: ['project'] })).toEqual([]);
  });

  it('pages through all kinds without a gap or a repetition [graph.paging.cursor]', async () => {
    const owner = await graph.actor('Otter');
    for (let i = 0; i < 3; i += 1) {
      const node = await graph.node('project', `Otter ${i}`, { description: 'otter', owner_id: owner.id });
      await answerFor(node, `Feeds the otter ${i}`, owner);
      await graph.file(node.id, `wip/otter ${i}.md`);
      await graph.call(addTool, { node_id: node.id, name: `Otter ${i}` }, graph.admin);
    }
    const whole = await find('otter', { limit: 100 });
    expect(whole).toHaveLength(13);
    for (const limit of [1, 3, 4, 7, 12, 13]) {
      const seen: Hit[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await graph.call(search, { query: 'otter', limit, ...(cursor ? { cursor } : {}) }, graph.reader);
        seen.push(...page.items);
        cursor = page.next_cursor;
      }
      expect(seen).toEqual(whole);
    }
  });

  it('tells nothing of hidden nodes: neither what they carry, nor who is known for them alone [graph.search.visible-only]', async () => {
    const shy = await graph.actor('Wombat the shy');
    const both = await graph.actor('Wombat the known');
    await answerFor(network, 'Digs', both);
    await graph.file(network.id, 'wip/wombat.md');
    const before = await graph.call(search, { query: 'wombat' }, graph.reader);
    expect(kinds(before.items)).toEqual(['actor', 'responsibility', 'file']);
    const secret = await graph.node('project', 'Burrow', { visibility: 'private', owner_id: shy.id });
    await answerFor(secret, 'Wombat of wombats', shy, both);
    await graph.call(addDataSource, { node_id: secret.id, name: 'Wombat' }, graph.admin);
    await graph.file(secret.id, 'wip/wombat wombat.md');
    expect(await graph.call(search, { query: 'wombat' }, graph.reader)).toEqual(before);
    expect(await find('wo', { include: ['actor'] })).toHaveLength(1);
    expect(kinds(await find('wombat', {}, graph.admin))).toEqual([
      'actor',
      'actor',
      'responsibility',
      'responsibility',
      'data_source',
      'file',
      'file',
    ]);
  });
});
