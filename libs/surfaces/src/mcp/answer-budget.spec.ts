import { getEvent, getNode, LIMITS, listEdges, listEvents, readFile, searchFiles } from '@workspace-graph/contracts';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { askWithin, isBudgeted } from './answer-budget.js';
import { shortenAnswer } from './shorten-answer.js';

/** As a model counts, which the estimate comes within a tenth of. */
const LEAST = LIMITS.tokensMin * 1.1;
const events = Array.from({ length: 300 }, (_, id) => ({
  id: `event ${id}`,
  content: 'The oven is hot. '.repeat(id % 9),
}));

/** A list as a service pages it: the cursor is the place. */
function listed(asked: Record<string, unknown>[]) {
  return async (input: Readonly<Record<string, unknown>>) => {
    asked.push({ ...input });
    const start = Number(input['cursor'] ?? 0);
    const end = start + Number(input['limit'] ?? 50);
    return { items: events.slice(start, end), next_cursor: end < events.length ? String(end) : null };
  };
}

describe('an answer within max_tokens', () => {
  it('is passed on as it is when it fits, without a second question', async () => {
    const asked: Record<string, unknown>[] = [];
    const { value, text } = await askWithin(listEvents, { node_id: 'n', limit: 20 }, listed(asked));
    expect(asked).toEqual([{ node_id: 'n', limit: 20 }]);
    expect(value).toEqual({ items: events.slice(0, 20), next_cursor: '20' });
    expect(text).toBe(JSON.stringify(value));
  });

  it('has fewer items and a cursor that leads on from them', async () => {
    const asked: Record<string, unknown>[] = [];
    const seen: unknown[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const given = { limit: 200, max_tokens: LIMITS.tokensMin, ...(cursor ? { cursor } : {}) };
      const { value, text } = await askWithin(listEvents, given, listed(asked));
      expect(countTokens(text)).toBeLessThanOrEqual(LEAST);
      const page = value as { items: unknown[]; next_cursor: string | null };
      seen.push(...page.items);
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(events);
    expect(asked.every((input) => !('max_tokens' in input))).toBe(true);
  });

  it('has fewer items also where the first ones are much larger than the rest', async () => {
    const sizes = [400, 400, 400, 400, 400, 380, ...Array.from({ length: 300 }, () => 1)];
    const items = sizes.map((size, id) => ({ id, name: 'oven '.repeat(size / 4) }));
    const ask = async ({ limit }: Readonly<Record<string, unknown>>) => ({
      items: items.slice(0, Number(limit ?? 100)),
      next_cursor: 'rest',
    });
    const { value, text } = await askWithin(listEdges, { max_tokens: LIMITS.tokensMin }, ask);
    expect(countTokens(text)).toBeLessThanOrEqual(LEAST);
    expect((value as { items: unknown[] }).items).toEqual(items.slice(0, 4));
  });

  it('tells a single item in part that is too long alone, and says so', async () => {
    const text = 'Bread. '.repeat(3_000);
    const item = { id: 'long', content: text };
    const ask = async () => ({ items: [item], next_cursor: 'rest' });
    const { value } = await askWithin(listEvents, { max_tokens: 1_000 }, ask);
    expect(value).toMatchObject({
      items: [{ id: 'long', content: `${text.slice(0, 2_000)}…` }],
      next_cursor: 'rest',
      left_out: {
        shortened: ['items.*.content: at most 2000 characters'],
        how_to_get: 'the next page by next_cursor; svc_get_event for a long one; a larger max_tokens',
      },
    });
  });

  it('points to a next page only where there is one', async () => {
    const item = { id: 'long', content: 'Bread. '.repeat(3_000) };
    const { value } = await askWithin(listEvents, { max_tokens: 1_000 }, async () => ({
      items: [item],
      next_cursor: null,
    }));
    expect(value).toMatchObject({ left_out: { how_to_get: 'svc_get_event for a long one; a larger max_tokens' } });
  });

  it('refuses a max_tokens out of range before it asks', async () => {
    const ask = () => Promise.reject(new Error('It was asked'));
    for (const max_tokens of [0, 499, 100_001, 1.5, '1000', null])
      await expect(askWithin(getNode, { max_tokens }, ask)).rejects.toMatchObject({
        code: 'VALIDATION_FAILED',
        details: { issues: [{ path: 'max_tokens' }] },
      });
  });

  it('is for what may be told in part', () => {
    expect([getNode, getEvent, listEvents, searchFiles].map(isBudgeted)).toEqual([true, true, true, true]);
    expect(isBudgeted(readFile)).toBe(false);
  });
});

describe('a shortened answer', () => {
  it('keeps names, paths and cursors whole, and takes the claim of being complete back', () => {
    const path = 'p'.repeat(3_000);
    const items = Array.from({ length: 100 }, (_, id) => ({ id, name: 'oven '.repeat(40) }));
    const answer = { path, edges: { items, complete: true }, files: { items: [1], complete: true }, description: 'd' };
    const { value, shortened } = shortenAnswer(answer, 1_800);
    expect(value).toEqual({
      path,
      edges: { items: items.slice(0, 25), complete: false },
      files: { items: [1], complete: true },
      description: 'd',
    });
    expect(shortened).toEqual(['edges.items: at most 25']);
    const failures = Array.from({ length: 400 }, () => 'it failed');
    expect(shortenAnswer({ failures, failures_complete: true }, 700).value).toMatchObject({
      failures_complete: false,
    });
  });

  it('has no items at all where one of each list is too much', () => {
    const item = { id: 1, name: 'oven '.repeat(100) };
    const answer = { name: 'A node', tools: [item], events: [item], edges: { items: [item], complete: true } };
    expect(shortenAnswer(answer, 120)).toEqual({
      value: { name: 'A node', tools: [], events: [], edges: { items: [], complete: false } },
      shortened: ['tools: at most 0', 'events: at most 0', 'edges.items: at most 0'],
    });
  });

  it('is a part of the whole one, whatever that is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 500 }), (answer, mostTokens) => {
        const { value, shortened } = shortenAnswer(answer, mostTokens);
        if (shortened.length === 0) expect(value).toEqual(answer);
        expect(JSON.stringify(value).length).toBeLessThanOrEqual(JSON.stringify(answer).length + 1);
      }),
    );
  });
});
