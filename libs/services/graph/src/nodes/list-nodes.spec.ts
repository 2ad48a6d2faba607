import {
  type Caller,
  connect,
  createNode,
  type InputOf,
  listNodes,
  suggestNodes,
  updateNode,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const list = (input: InputOf<typeof listNodes>, caller: Caller = graph.reader) => graph.call(listNodes, input, caller);
const names = async (input: InputOf<typeof listNodes>, caller?: Caller) =>
  (await list(input, caller)).items.map((item) => item.name);

/** Every page of a list, one after the other. */
async function walk(input: InputOf<typeof listNodes>, caller: Caller = graph.reader): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof list>> = await list({ ...input, ...(cursor ? { cursor } : {}) }, caller);
    pages.push(page.items.map((item) => item.name));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return pages;
}

describe('the filters of a list', () => {
  let organization: NodeAnswer;
  let parent: NodeAnswer;
  beforeAll(async () => {
    organization = await graph.node('organization', 'Filtered');
    const owner = await graph.actor('Filter owner');
    parent = await graph.node('area', 'F area', { organization_id: organization.id });
    await graph.node('project', 'F project', {
      organization_id: organization.id,
      health: 'at_risk',
      owner_id: owner.id,
      parent_ids: [parent.id],
    });
    await graph.node('project', 'F done', { organization_id: organization.id, lifecycle: 'done' });
    await graph.node('process', 'F broken', {
      organization_id: organization.id,
      lifecycle: 'broken',
      parent_ids: [parent.id],
    });
    await graph.node('principle', 'F old', { organization_id: organization.id, lifecycle: 'archived' });
    filters = {
      type: [{ type: ['project', 'area'] }, ['F area', 'F done', 'F project']],
      status: [{ status: ['completed', 'archived'] }, ['F done', 'F old']],
      lifecycle: [{ lifecycle: ['broken', 'archived'] }, ['F broken', 'F old']],
      health: [{ health: ['at_risk'] }, ['F project']],
      organization: [{}, ['F area', 'F broken', 'F done', 'F project']],
      owner: [{ owner_id: owner.id }, ['F project']],
      parent: [{ parent_id: parent.id }, ['F broken', 'F project']],
      query: [{ query: 'PRO' }, ['F project']],
      together: [{ type: ['project'], status: ['active'], parent_id: parent.id, query: 'PROJ' }, ['F project']],
    };
  });
  let filters: Record<string, [InputOf<typeof listNodes>, string[]]>;

  it.each(['type', 'status', 'lifecycle', 'health', 'organization', 'owner', 'parent', 'query', 'together'])(
    'narrow it by %s [graph.filter.type-status-relation-organization]',
    async (name) => {
      const [input, expected] = filters[name] ?? [{}, []];
      expect(await names({ organization_id: organization.id, ...input })).toEqual(expected);
    },
  );

  it('refuse an organization or parent that is absent, and a hidden one alike [access.hidden.indistinguishable-from-absent]', async () => {
    const hidden = await graph.node('area', 'Hidden parent', { visibility: 'private' });
    for (const field of ['organization_id', 'parent_id'] as const) {
      const [absent, unseen] = [newId(), hidden.id];
      const bodies = await Promise.all(
        [absent, unseen].map(async (id) => {
          const error = await graph.refusal(listNodes, { [field]: id }, graph.reader, 'NODE_NOT_FOUND');
          return JSON.stringify(error.toBody('r')).replaceAll(id, 'ID');
        }),
      );
      expect(bodies[0]).toBe(bodies[1]);
    }
  });
});

describe('the name filter', () => {
  beforeAll(async () => {
    for (const name of ['Žluťoučký kůň', 'Straße 100%', 'under_score', 'back\\slash'])
      await graph.node('principle', name);
  });

  it.each([
    ['zlutouck', ['Žluťoučký kůň']],
    ['KŮŇ', ['Žluťoučký kůň']],
    ['STRASSE', ['Straße 100%']],
    ['0%', ['Straße 100%']],
    ['r_s', ['under_score']],
    ['k\\s', ['back\\slash']],
    ['100_', []],
    ['%', ['Straße 100%']],
  ])('finds %s in any part, whatever the case and diacritics [graph.search.names-folded]', async (query, expected) => {
    expect(await names({ query, type: ['principle'] })).toEqual(expected);
  });

  it('of blanks alone filters nothing', async () => {
    expect((await names({ query: '  ', type: ['principle'] })).length).toBeGreaterThan(3);
  });
});

describe('paging', () => {
  let organization: NodeAnswer;
  const all = Array.from({ length: 23 }, (_, i) => `Page ${String(i).padStart(2, '0')}`);
  beforeAll(async () => {
    organization = await graph.node('organization', 'Paged');
    for (const [i, name] of all.entries()) {
      // Every third node is hidden from the reader.
      await graph.node('area', name, {
        organization_id: organization.id,
        ...(i % 3 === 2 ? { visibility: 'private' as const } : {}),
      });
    }
  });
  const seen = all.filter((_, i) => i % 3 !== 2);

  it.each(['name', 'created', 'updated'] as const)(
    'by %s shows each item once and ends with null [graph.paging.cursor] [graph.lists.never-cut-silently]',
    async (order) => {
      const pages = await walk({ organization_id: organization.id, order, limit: 5 }, graph.admin);
      expect(pages.map((page) => page.length)).toEqual([5, 5, 5, 5, 3]);
      expect(pages.flat()).toEqual(order === 'name' ? all : [...all].reverse());
    },
  );

  it('is never short because of hidden nodes [access.filter.same-sql] [access.hidden.nowhere]', async () => {
    const pages = await walk({ organization_id: organization.id, limit: 4 });
    expect(pages.map((page) => page.length)).toEqual([4, 4, 4, 4]);
    expect(pages.flat()).toEqual(seen);
  });

  it('neither skips nor repeats what stays, while nodes come in between [graph.paging.stable-under-writes]', async () => {
    const first = await list({ organization_id: organization.id, limit: 6 });
    await graph.node('area', 'Page 01b', { organization_id: organization.id });
    await graph.node('area', 'Page 12b', { organization_id: organization.id });
    const rest = await list({ organization_id: organization.id, limit: 500, cursor: first.next_cursor ?? '' });
    const walked = [...first.items, ...rest.items].map((item) => item.name);
    expect(walked.filter((name) => all.includes(name))).toEqual(seen);
  });

  it('goes on past names of any script, however long they are folded [graph.paging.cursor]', async () => {
    const organization = await graph.node('organization', 'Scripts');
    const longest = ['한', 'が', 'ﷺ', '㍍', 'ф', '"'].map((letter) => letter.repeat(200));
    for (const name of [...longest, '😀'.repeat(100)])
      await graph.node('area', name, { organization_id: organization.id });
    const walked = await walk({ organization_id: organization.id, type: ['area'], limit: 1 });
    expect(walked.flat().sort()).toEqual([...longest, '😀'.repeat(100)].sort());
  });

  it('leaves the server no plan for each of the many combinations of filters', async () => {
    const { id } = graph.organization;
    const filters = [{ query: 'x' }, { type: ['area' as const] }, { owner_id: id }, { organization_id: id }];
    const subsets: object[] = [{}];
    for (const filter of filters) subsets.push(...subsets.map((set) => ({ ...set, ...filter })));
    const orders = ['name', 'created', 'updated'] as const;
    for (const input of orders.flatMap((order) => subsets.map((set) => ({ order, ...set })))) await list(input);
    const kept = await graph.sql(`SELECT name FROM pg_prepared_statements WHERE name LIKE 'node.list.%'`);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(3 * 9);
  });

  it('refuses a cursor of another order or of nobody [graph.paging.bad-cursor-refused]', async () => {
    const { next_cursor } = await list({ order: 'created', limit: 1 });
    for (const cursor of [next_cursor ?? '', 'rubbish', '']) {
      const error = await graph.refusal(listNodes, { cursor, order: 'name' }, graph.reader, 'VALIDATION_FAILED');
      expect(error.details).toMatchObject({ issues: [{ path: 'cursor' }] });
    }
  });
});

describe('the order of a list', () => {
  it('by name folds case and diacritics; by updated puts the last changed first', async () => {
    const organization = await graph.node('organization', 'Ordered');
    const made: NodeAnswer[] = [];
    for (const name of ['čáp', 'Beta', 'alpha', 'Ábel'])
      made.push(await graph.node('area', name, { organization_id: organization.id }));
    await graph.call(updateNode, { node_id: made[1]?.id ?? '', goal: 'changed' }, graph.admin);
    const input = { organization_id: organization.id };
    expect(await names(input)).toEqual(['Ábel', 'alpha', 'Beta', 'čáp']);
    expect(await names({ ...input, order: 'updated' })).toEqual(['Beta', 'Ábel', 'alpha', 'čáp']);
  });
});

describe('the scope of a list', () => {
  it('is what a session with a home node holds and its person sees, or everything [access.hidden.nowhere]', async () => {
    const home = await graph.node('project', 'Home');
    const near = await graph.node('area', 'Near');
    const hidden = await graph.node('area', 'Near and hidden', { visibility: 'private' });
    const far = await graph.node('area', 'Far');
    await graph.call(connect, { source_id: near.id, target_id: home.id, relation: 'informed_by' }, graph.admin);
    await graph.call(connect, { source_id: home.id, target_id: hidden.id, relation: 'related_to' }, graph.admin);
    await graph.call(connect, { source_id: near.id, target_id: far.id, relation: 'related_to' }, graph.admin);
    const caller = await graph.session(graph.reader, { home: home.id, read: [near.id, hidden.id] });
    expect(await names({}, caller)).toEqual(['Home', 'Near']);
    expect(await names({ scope: 'session', type: ['area'] }, caller)).toEqual(['Near']);
    expect(await names({ scope: 'global', query: 'far' }, caller)).toEqual(['Far']);
    const homeless = await graph.session(graph.reader, { read: [near.id] });
    expect(await names({ query: 'far' }, homeless)).toEqual(['Far']);
    expect(await names({ scope: 'session' }, homeless)).toEqual(['Near']);
    const error = await graph.refusal(listNodes, { scope: 'session' }, graph.reader, 'VALIDATION_FAILED');
    expect(error.details).toMatchObject({ issues: [{ path: 'scope' }] });
  });
});

describe('an item of a list', () => {
  it('hides the organization that its reader may not see', async () => {
    const closed = await graph.node('organization', 'Closed house', { visibility: 'private' });
    await graph.call(
      createNode,
      { type: 'area', name: 'Open room', organization_id: closed.id, visibility: 'everyone' },
      graph.admin,
    );
    expect((await list({ query: 'open room' })).items).toMatchObject([{ name: 'Open room', organization: null }]);
  });
});

describe('suggestions', () => {
  beforeAll(async () => {
    for (const name of ['Gizmo', 'Gizmo two', 'The gizmo', 'Angizmonia']) await graph.node('area', name);
    await graph.node('area', 'Gizmo gone', { lifecycle: 'archived' });
    await graph.node('area', 'Gizmo hidden', { visibility: 'private' });
  });

  it('put the best match first and count every visible one', async () => {
    const { items, total } = await graph.call(suggestNodes, { text: 'GÍZMO', limit: 4 }, graph.reader);
    expect(items.map((item) => item.name)).toEqual(['Gizmo', 'Gizmo two', 'The gizmo', 'Angizmonia']);
    expect(total).toBe(5);
  });

  it('for no text are the first nodes, for an unknown one none', async () => {
    expect((await graph.call(suggestNodes, { text: '', limit: 3 }, graph.reader)).items).toHaveLength(3);
    expect(await graph.call(suggestNodes, { text: 'no such thing' }, graph.reader)).toEqual({ items: [], total: 0 });
  });
});
