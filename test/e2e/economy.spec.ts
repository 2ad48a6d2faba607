import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createFile, createMirror, listNodes, searchFiles } from '@workspace-graph/contracts';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { until } from '../central/central-world.js';
import { RestClient } from '../central/rest-client.js';
import { JOBS, type Job } from './economy-jobs.js';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const DEMO = join(import.meta.dirname, '../../apps/device-agent/demo/linden-bakery.json');

/** At most for a refusal and the call that it names. */
const REFUSAL_TOKENS = 500;

const folder = new WorkspaceFolder({ isStarted: true });
let owner: RestClient;
const clients: Client[] = [];

beforeAll(async () => {
  const { url } = await folder.start();
  owner = new RestClient(url, folder.token);
  expect(await folder.svc(['import', DEMO, '--json'])).toMatchObject({ code: 0 });
  const node_id = await idOf('Second oven');
  await owner.call(createMirror, { node_id });
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ filename: 'plan.md', content: 'The plan of the oven: the floor is next.' });
  const made = await owner.fetch(`/nodes/${node_id}/files`, { method: 'POST', headers, body });
  expect(createFile.output.safeParse(await made.json()).success).toBe(true);
}, START_MS);
afterEach(() => Promise.allSettled(clients.splice(0).map((client) => client.close())));
afterAll(() => folder[Symbol.asyncDispose]());

async function idOf(name: string): Promise<string> {
  const { items } = await owner.call(listNodes, { scope: 'global', query: name });
  return items.find((node) => node.name === name)?.id ?? '';
}

/** A job begins when what the one before wrote is found. */
async function indexed(): Promise<void> {
  await until('the files are indexed', async () => {
    const { indexing } = await owner.call(searchFiles, { query: 'oven' });
    return indexing === 0;
  });
}

interface Refusal {
  readonly details?: { readonly hint?: string };
}

/** What a job took. */
interface Cost {
  readonly calls: number;
  /** Of what was asked and answered. */
  readonly tokens: number;
}

/** How an agent comes to what it needs: it is at home, asks before it begins, or follows the refusals that it meets. */
type Manner = 'at home' | 'asks first' | 'follows refusals';

/** Does a job with a real client. */
async function cost(job: Job, home: string | null, manner: Manner): Promise<Cost> {
  await indexed();
  const client = new Client({ name: `${job.name} ${Math.random()}`, version: '1' });
  clients.push(client);
  const query = home === null ? '' : `?home_node_id=${await idOf(home)}`;
  const requestInit = { headers: { authorization: `Bearer ${owner.token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${owner.url}/mcp${query}`), { requestInit }));
  const spent = { calls: 0, tokens: 0 };
  const call = async (name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const result = await client.callTool({ name, arguments: input });
    const [first] = result.content;
    const text = first?.type === 'text' ? first.text : '';
    spent.calls += 1;
    spent.tokens += countTokens(JSON.stringify({ name, arguments: input })) + countTokens(text);
    if (!result.isError) return JSON.parse(text) as Record<string, unknown>;
    const hinted = /Call (svc_expand_scope) with (\{.*?\}), then/.exec(
      (JSON.parse(text) as Refusal).details?.hint ?? '',
    );
    if (manner !== 'follows refusals' || !hinted) throw new Error(`${name}: ${text}`);
    const [, tool = '', asked = ''] = hinted;
    await call(tool, { ...(JSON.parse(asked) as object), reason: job.name });
    return call(name, input);
  };
  if (manner === 'asks first' && job.reaches) {
    const { nodes, access } = job.reaches;
    await call('svc_expand_scope', { node_ids: nodes, access, reason: job.name });
  }
  await job.run(call);
  return spent;
}

it('ten everyday jobs take an agent at its home node no call for its scope, one elsewhere at most one, and one that knows nothing of it two for each refusal', async () => {
  const rows: string[] = [];
  for (const job of JOBS) {
    const atHome = await cost(job, job.home, 'at home');
    const elsewhere = await cost(job, 'Baking school', 'asks first');
    const homeless = await cost(job, null, 'asks first');
    const unaware = await cost(job, null, 'follows refusals');
    const prepared = [atHome, elsewhere, homeless];
    rows.push([job.name, ...[...prepared, unaware].map((c) => `${c.calls} ${c.tokens}`)].join(' | '));
    expect([job.name, atHome]).toMatchObject([job.name, { calls: job.calls }]);
    for (const away of [elsewhere, homeless])
      expect([job.name, away]).toMatchObject([job.name, { calls: job.calls + (job.reaches ? 1 : 0) }]);
    expect([job.name, unaware.calls - job.calls]).toEqual([job.name, job.reaches ? 2 * (job.refusals ?? 1) : 0]);
    for (const { tokens } of prepared) expect(tokens).toBeLessThan(job.mostTokens);
    expect(unaware.tokens).toBeLessThan(job.mostTokens + REFUSAL_TOKENS * (job.refusals ?? 1));
  }
  console.info(rows.join('\n'));
}, 240_000);
