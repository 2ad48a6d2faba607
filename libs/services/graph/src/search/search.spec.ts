import {
  archiveEvent,
  type Caller,
  type InputOf,
  logEvent,
  type OutputOf,
  search,
  updateNode,
} from '@workspace-graph/contracts';
import fc from 'fast-check';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

type Hit = OutputOf<typeof search>['items'][number];

let graph: GraphFixture;
const absent = '0190a5f0-0000-7000-8000-00000000dead';

beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const find = async (
  query: string,
  extra: Partial<InputOf<typeof search>> = {},
  caller: Caller = graph.reader,
): Promise<Hit[]> => (await graph.call(search, { query, ...extra }, caller)).items;
const names = (hits: readonly Hit[]): string[] => hits.map((hit) => hit.node?.name ?? '');
const log = (node: NodeAnswer, content: string, occurredAt?: string): Promise<{ id: string }> =>
  graph.call(
    logEvent,
    { node_id: node.id, kind: 'note', content, ...(occurredAt ? { occurred_at: occurredAt } : {}) },
    graph.admin,
  );

describe('searching names', () => {
  it('ignores case and diacritics in the query and the name [graph.search.names-folded]', async () => {
    await graph.node('project', 'Žluťoučký kůň');
    for (const query of ['žluťoučký kůň', 'ZLUTOUCKY KUN', 'Zluťoucky', 'kun'])
      expect(names(await find(query))).toEqual(['Žluťoučký kůň']);
    await graph.node('area', 'Straße Łódź Øst');
    for (const query of ['strasse', 'lodz', 'ØST', 'lodz strasse'])
      expect(names(await find(query))).toEqual(['Straße Łódź Øst']);
  });

  it('prefers the whole name, then its beginning, a word, a part of a word, and all of these to texts', async () => {
    await graph.node('project', 'Nový prekladac', { description: 'x' });
    await graph.node('project', 'Preklad');
    await graph.node('project', 'Předpřeklady');
    await graph.node('project', 'Překlad smluv');
    await graph.node('project', 'Oprava', { description: 'Tady je překlad, překlad a zase překlad.' });
    const hits = await find('překlad');
    expect(names(hits)).toEqual(['Preklad', 'Překlad smluv', 'Nový prekladac', 'Předpřeklady', 'Oprava']);
    expect(hits.map((hit) => hit.matched)).toEqual(['name', 'name', 'name', 'name', 'text']);
    expect(hits.map((hit) => hit.snippet)).toEqual([
      '«Preklad»',
      '«Překlad» smluv',
      'Nový «preklad»ac',
      'Před«překlad»y',
      'Tady je «překlad», «překlad» a zase «překlad».',
    ]);
    expect(hits.every((hit, i) => i === 0 || hit.score <= (hits[i - 1]?.score ?? 0))).toBe(true);
    // Its further digits cost an agent tokens and say nothing.
    for (const { score } of hits) expect(String(score)).toMatch(/^\d+(\.\d{1,2})?$/);
  });

  it('finds parts of words in any order, also parts of one or two letters', async () => {
    await graph.node('area', 'Kvóty qx');
    expect(names(await find('qx vot'))).toEqual(['Kvóty qx']);
    expect(names(await find('qx'))).toEqual(['Kvóty qx']);
    expect(names(await find('x v q'))).toContain('Kvóty qx');
  });

  it('takes wildcards of SQL for what they are', async () => {
    await graph.node('area', '100%_hotovo \\ konec');
    for (const query of ['100%', '%_h', '\\']) expect(names(await find(query))).toEqual(['100%_hotovo \\ konec']);
    expect(await find('%%%')).toEqual([]);
  });
});

describe('searching texts', () => {
  it('covers goals, descriptions and events and answers a snippet of the original text [graph.search.full-text]', async () => {
    const node = await graph.node('project', 'Vlak', {
      goal: 'Zkrátit čekání na štěrk',
      description: 'Dlouhý popis o hospodaření se štěrkem.',
    });
    const event = await log(node, 'Dodávka ŠTĚRKU přijde v úterý');
    const hits = await find('sterk');
    expect(hits.map(({ kind, item_id, matched, snippet }) => ({ kind, item_id, matched, snippet }))).toEqual(
      expect.arrayContaining([
        { kind: 'node', item_id: null, matched: 'text', snippet: 'Zkrátit čekání na «štěrk»' },
        { kind: 'event', item_id: event.id, matched: 'text', snippet: 'Dodávka «ŠTĚRKU» přijde v úterý' },
      ]),
    );
    expect(hits).toHaveLength(2);
    expect(hits.every((hit) => hit.node?.id === node.id)).toBe(true);
  });

  it('weighs a goal more than a description, and takes the newer of two equal events first', async () => {
    const inGoal = await graph.node('project', 'G', { goal: 'Ovzduší ve městě' });
    const inDescription = await graph.node('project', 'D', { description: 'Ovzduší ve městě' });
    const older = await log(inGoal, 'Sensor na střeše', '2025-01-01T00:00:00Z');
    const newer = await log(inDescription, 'Sensor na střeše', '2025-06-01T00:00:00Z');
    expect((await find('ovzdusi')).map((hit) => hit.node?.id)).toEqual([inGoal.id, inDescription.id]);
    expect((await find('sensor')).map((hit) => hit.item_id)).toEqual([newer.id, older.id]);
  });

  it('needs all words, takes the last one as a beginning, quotes as a phrase, OR and an excluded word', async () => {
    const node = await graph.node('process', 'Účtárna');
    await log(node, 'faktura zaplacena dvakrát');
    await log(node, 'faktura stornována');
    const contents = async (query: string): Promise<number> => (await find(query)).length;
    expect(await contents('faktura')).toBe(2);
    expect(await contents('faktura zapl')).toBe(1);
    expect(await contents('fakt zaplacena')).toBe(0);
    expect(await contents('"zaplacena faktura"')).toBe(0);
    expect(await contents('"faktura zaplacena"')).toBe(1);
    expect(await contents('zaplacena OR stornovana')).toBe(2);
    expect(await contents('faktura -dvakrat')).toBe(1);
    expect(await contents('-faktura')).toBe(0);
  });

  it('leaves out superseded and archived events', async () => {
    const node = await graph.node('process', 'Archiv');
    const event = await log(node, 'pergamen nalezen');
    expect(await find('pergamen')).toHaveLength(1);
    await graph.call(archiveEvent, { event_id: event.id }, graph.admin);
    expect(await find('pergamen')).toEqual([]);
  });

  it('follows a change of the text at once', async () => {
    const node = await graph.node('project', 'Měnivý', { description: 'krychle' });
    await graph.call(updateNode, { node_id: node.id, description: 'kužel' }, graph.admin);
    expect(await find('krychle')).toEqual([]);
    expect(await find('kuzel')).toHaveLength(1);
  });
});

describe('a search', () => {
  it('is narrowed by type, organization and kind of hit', async () => {
    const other = await graph.node('organization', 'Jiná kovárna');
    await graph.node('project', 'Kovárna A');
    await graph.node('area', 'Kovárna B', { organization_id: other.id });
    await log(await graph.node('project', 'Bez názvu'), 'kovárna v textu');
    expect(names(await find('kovarna', { type: ['area', 'organization'] })).sort()).toEqual([
      'Jiná kovárna',
      'Kovárna B',
    ]);
    expect(names(await find('kovarna', { organization_id: other.id }))).toEqual(['Kovárna B']);
    expect((await find('kovarna', { include: ['event'] })).map((hit) => hit.kind)).toEqual(['event']);
    expect((await find('kovarna', { include: ['node'] })).map((hit) => hit.kind)).toEqual(['node', 'node', 'node']);
    expect(await find('kovarna', { organization_id: absent })).toEqual([]);
  });

  it('answers and counts visible nodes only, in the same order and with the same scores as if the hidden ones were not there [graph.search.visible-only] [events.hidden-with-node]', async () => {
    for (const name of ['Perla první', 'Černá perla', 'Superperlan'])
      await graph.node('project', name, { description: 'perla' });
    await log(await graph.node('project', 'Šperk'), 'perla v prstenu');
    const before = await graph.call(search, { query: 'perla' }, graph.reader);
    const secret = await graph.node('organization', 'Perla', { visibility: 'private' });
    const open = await graph.node('area', 'Otevřená perla', {
      organization_id: secret.id,
      visibility: 'private',
      description: 'perla perla',
    });
    await log(open, 'perla perla perla');
    expect(await graph.call(search, { query: 'perla' }, graph.reader)).toEqual(before);
    expect(await find('perla', { organization_id: secret.id })).toEqual([]);
    expect((await find('perla', {}, graph.admin)).length).toBe(before.items.length + 3);
  });

  it('pages through names and texts without a gap or a repetition [graph.paging.cursor]', async () => {
    for (let i = 0; i < 5; i += 1) await graph.node('project', `Koloběžka ${i}`);
    const node = await graph.node('project', 'Garáž', { description: 'koloběžka' });
    for (let i = 0; i < 6; i += 1) await log(node, 'koloběžka', '2025-01-01T00:00:00Z');
    const whole = await find('kolobezka', { limit: 100 });
    expect(whole).toHaveLength(12);
    for (const limit of [1, 2, 5, 6, 11, 12]) {
      const seen: Hit[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await graph.call(
          search,
          { query: 'kolobezka', limit, ...(cursor ? { cursor } : {}) },
          graph.reader,
        );
        expect(page.items.length).toBeLessThanOrEqual(limit);
        seen.push(...page.items);
        cursor = page.next_cursor;
      }
      expect(seen).toEqual(whole);
    }
    await graph.refusal(search, { query: 'x', cursor: 'abc' }, graph.reader, 'VALIDATION_FAILED');
  });

  it('never fails on odd input', async () => {
    for (const query of [
      '!!!',
      '&',
      '|',
      "'",
      '"',
      '":*',
      'a:*',
      '<->',
      '\\',
      "it's",
      '((',
      'a & | b',
      '🐎',
      '\u0301',
      'ﬁ',
      '-',
      'or',
      'x'.repeat(200),
      '漢字',
      'user@example.org',
      'http://x.org/a?b=c',
    ]) {
      await find(query);
    }
    const letters = fc.constantFrom(
      'a',
      'ř',
      ' ',
      '"',
      "'",
      ':',
      '*',
      '&',
      '|',
      '!',
      '(',
      ')',
      '-',
      '<',
      '>',
      '\\',
      '%',
      '_',
      'OR',
      '🐎',
      '\u0301',
      '\u0007',
      '\u200b',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(letters, { minLength: 1, maxLength: 20 }).map((parts) => parts.join('')),
        async (query) => {
          if (query.trim() !== '') await find(query);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('of nothing is refused', async () => {
    await graph.refusal(search, { query: '  ' }, graph.reader, 'VALIDATION_FAILED');
    await graph.refusal(search, { query: 'a\u0000b' }, graph.reader, 'VALIDATION_FAILED');
  });
});
