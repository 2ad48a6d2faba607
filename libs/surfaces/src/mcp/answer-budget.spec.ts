import {
  getEvent,
  getNode,
  getOverview,
  initSession,
  LIMITS,
  listEdges,
  listEvents,
  listSessionEvents,
  logEvent,
  readFile,
  searchFiles,
  undoSession,
  updateNode,
} from '@workspace-graph/contracts';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { answerOfChange, askWithin, isBudgeted } from './answer-budget.js';
import { shortenAnswer } from './shorten-answer.js';
import { refusal } from './tool-refusal.js';

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

  it('names a tool for each list of the overview that is told in part', async () => {
    const rows = Array.from({ length: 100 }, () => ({ name: 'A row of the overview' }));
    const ask = async () => ({
      attention: { access_requests: rows },
      recent_activity: rows,
      sessions: { items: rows },
      new_nodes: rows,
    });
    const { value } = await askWithin(getOverview, { max_tokens: LIMITS.tokensMin }, ask);
    const { left_out } = value as { left_out: { shortened: string[]; how_to_get: string } };
    expect(left_out.shortened).toHaveLength(4);
    for (const tool of ['svc_list_access_requests', 'svc_list_events', 'svc_list_sessions', 'svc_list_nodes'])
      expect(left_out.how_to_get).toContain(tool);
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

  it('tells in part what agents wrote into a log', async () => {
    const payload = { text: 'Bread. '.repeat(10_000) };
    const ask = async () => ({ items: [{ seq: 7, kind: 'assistant_message', payload }], last_seq: 9 });
    const { value, text } = await askWithin(listSessionEvents, { max_tokens: LIMITS.tokensMin }, ask);
    expect(countTokens(text)).toBeLessThanOrEqual(LEAST);
    expect(value).toMatchObject({ items: [{ seq: 7 }], left_out: { shortened: [expect.stringContaining('text')] } });
  });

  it('has the last events of a log, asked for the newest, where the first ones are much larger', async () => {
    const sizes = [40_000, ...Array.from({ length: 20 }, () => 500)];
    const log = sizes.map((size, seq) => ({ seq, kind: 'reasoning', payload: { text: 'bread '.repeat(size / 6) } }));
    const ask = async ({ limit }: Readonly<Record<string, unknown>>) => ({
      items: log.slice(-Number(limit ?? 200)),
      last_seq: 20,
    });
    const { value } = await askWithin(listSessionEvents, { newest: true, max_tokens: 2_000 }, ask);
    const { items } = value as { items: typeof log };
    expect(items.length).toBeGreaterThan(5);
    expect(items).toEqual(log.slice(-items.length));
    expect(value).toMatchObject({ left_out: { how_to_get: expect.stringContaining('with newest a seq before') } });
  });

  it('says nothing of what was left out where nothing was', async () => {
    const answer = { name: 'oven '.repeat(1_000) };
    expect((await askWithin(getNode, { max_tokens: LIMITS.tokensMin }, async () => answer)).value).toEqual(answer);
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
    expect([initSession, logEvent].map(isBudgeted)).toEqual([true, false]);
  });
});

describe('the answer of a change', () => {
  const events = Array.from({ length: 20 }, (_, id) => ({ id, content: 'The oven is hot. '.repeat(200) }));
  const node = { id: 'n', name: 'Bakehouse', recent_events: events };

  it('is whole where it is short, and otherwise told in part with the tool that reads the rest [mcp.tools.max-tokens]', () => {
    const short = { applied: true, preview: null, node: { ...node, recent_events: [] } };
    expect(answerOfChange(updateNode, short).value).toEqual(short);
    const { value, text } = answerOfChange(updateNode, { applied: true, preview: null, node });
    expect(countTokens(text)).toBeLessThanOrEqual(LIMITS.tokensDefault * 1.1);
    expect(value).toMatchObject({
      applied: true,
      node: { id: 'n', name: 'Bakehouse' },
      left_out: { shortened: expect.arrayContaining([expect.any(String)]), how_to_get: 'svc_get_node' },
    });
  });

  it('is complete no more where changes of it are left out', () => {
    const changes = Array.from({ length: 1_000 }, (_, seq) => ({
      seq,
      action: 'log',
      undone: true,
      node: { id: 'n' },
    }));
    const { value } = answerOfChange(undoSession, { applied: true, undone: 1_000, kept: 0, complete: true, changes });
    expect(value).toMatchObject({ applied: true, undone: 1_000, complete: false });
    expect((value as { changes: unknown[] }).changes.length).toBeGreaterThan(10);
  });

  it('that was refused has what is there now in part, too', () => {
    const body = { code: 'CONFLICT' as const, message: 'The node now has version 3, not 1.', request_id: 'r' };
    expect(refusal({ ...body, details: { current: { id: 'n' } } }).structuredContent).toEqual({
      ...body,
      details: { current: { id: 'n' } },
    });
    const { isError, structuredContent, content } = refusal({ ...body, details: { current: node } });
    expect(isError).toBe(true);
    expect(countTokens(JSON.stringify(structuredContent))).toBeLessThanOrEqual(LIMITS.tokensDefault * 1.1);
    expect(structuredContent).toMatchObject({
      ...body,
      details: { current: { id: 'n' }, left_out: { how_to_get: 'the tools that read it' } },
    });
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
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
