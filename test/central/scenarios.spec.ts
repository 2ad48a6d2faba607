import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import {
  connect,
  createNode,
  createToken,
  exportGraph,
  getContext,
  getNode,
  getOverview,
  getSnapshot,
  listAudit,
  listEvents,
  listNodes,
  listTokens,
  logEvent,
  type Node,
  revokeToken,
  search,
  setAccess,
  updateNode,
  updateUser,
  whoami,
} from '@workspace-graph/contracts';
import { expectNoOrphans, expositionProblems, promtool, promtoolProblems } from '@workspace-graph/testing';
import { BOOTSTRAP, type CentralWorld, ROOT, startWorld, until } from './central-world.js';
import { LOOKS_OF_A_SECOND, looksUntilSettled } from './looks.js';
import { callTool, connectMcp, ERAS, openListenStream, openSessionStream, statusOfSession } from './mcp-streams.js';
import { RestClient } from './rest-client.js';
import { TraceCollector } from './trace-collector.js';

const ABSENT = '01890000-0000-7000-8000-00000000dead';
const SAMPLE = process.env['SVC_TEST_SAMPLE'];
const DOCUMENTS = [join(ROOT, 'apps/device-agent/demo/linden-bakery.json'), ...(SAMPLE ? [SAMPLE] : [])];

interface Document {
  readonly nodes: readonly { readonly key: string; readonly name: string; readonly type: string }[];
  readonly events?: readonly unknown[];
}

let world: CentralWorld;
let collector: TraceCollector;

beforeAll(async () => {
  collector = await TraceCollector.start();
  world = await startWorld({ variables: { SVC_OTLP_URL: collector.url, SVC_LOG_LEVEL: 'debug' } });
});
afterAll(async () => {
  expect(await world.central.stop()).toBe(true);
  await collector[Symbol.asyncDispose]();
  await expectNoOrphans();
});

/** The first administrator at the gateway with this number. */
function adaAt(gateway: 0 | 1): RestClient {
  return world.ada.at(world.urls[gateway]);
}

async function nodeNamed(name: string): Promise<Node> {
  const found = await world.ada.call(listNodes, { query: name });
  return world.ada.call(getNode, { node_id: found.items[0]?.id ?? ABSENT });
}

describe('a central workspace', () => {
  it('has one first administrator and refuses to make a second [identity.bootstrap.one-time]', async () => {
    await expect(world.central.exec('graph-svc', BOOTSTRAP)).rejects.toThrow(/graph-svc exec failed/);
    expect(await world.ada.call(whoami, {})).toMatchObject({ scope: 'manage', user: { name: 'Ada' } });
  });

  it.each(DOCUMENTS.map((path) => [basename(path), path] as const))(
    'takes %s in at one gateway and shows all of it at the other',
    async (_name, path) => {
      const text = readFileSync(path, 'utf8');
      const document = JSON.parse(text) as Document;
      const before = await adaAt(1).call(exportGraph, {});
      const startedMs = performance.now();
      const imported = await adaAt(0).import(text);
      expect([imported.status, await imported.json()]).toMatchObject([
        200,
        { applied: true, created: { nodes: document.nodes.length } },
      ]);
      expect(performance.now() - startedMs).toBeLessThan(20_000);
      const after = await adaAt(1).call(exportGraph, {});
      expect(after.nodes.length - before.nodes.length).toBe(document.nodes.length);
      expect(after.events.length - before.events.length).toBe(document.events?.length ?? 0);
      const again = await adaAt(1).import(text);
      expect(await again.json()).toMatchObject({
        applied: true,
        created: {},
        updated: {},
        unchanged: { nodes: document.nodes.length },
      });
    },
  );

  it('is one graph behind both gateways: what is made at one is read, found and drawn at the other', async () => {
    const organization = await nodeNamed('Linden Bakery');
    const made = await adaAt(0).call(createNode, {
      type: 'project',
      name: 'Rye starter',
      organization_id: organization.id,
      goal: 'One starter for every loaf',
    });
    const area = await nodeNamed('Bakehouse');
    await adaAt(1).call(connect, { source_id: made.id, target_id: area.id, relation: 'related_to' });
    await adaAt(0).call(logEvent, { node_id: made.id, kind: 'decision', content: 'The starter lives at 24 degrees' });
    const read = await adaAt(1).call(getNode, { node_id: made.id });
    expect(read.edges.items.map(({ relation, node }) => [relation, node.name])).toEqual(
      expect.arrayContaining([
        ['belongs_to', 'Linden Bakery'],
        ['related_to', 'Bakehouse'],
      ]),
    );
    expect(read.recent_events.map((event) => event.content)).toEqual(['The starter lives at 24 degrees']);
    const hits = await adaAt(1).call(search, { query: 'starter degrees' });
    expect(hits.items.map((hit) => hit.node?.id)).toContain(made.id);
    const context = await adaAt(1).call(getContext, { node_id: area.id, depth: 2 });
    expect(context.nodes.map((node) => node.name)).toContain('Rye starter');
    const renamed = await adaAt(0).call(
      updateNode,
      { node_id: made.id, name: 'Rye mother' },
      { 'if-match': `"${read.version}"` },
    );
    expect(renamed).toMatchObject({ applied: true, node: { name: 'Rye mother' } });
    expect(
      await adaAt(1).refusal(updateNode, { node_id: made.id, name: 'Lost' }, { 'if-match': `"${read.version}"` }),
    ).toMatchObject({ status: 409, code: 'CONFLICT' });
    expect((await adaAt(1).call(getOverview, {})).new_nodes.map((node) => node.name)).toContain('Rye mother');
  });

  it('answers an unchanged drawing with 304 at any gateway, and a changed one anew', async () => {
    const first = await adaAt(0).send(getSnapshot, {});
    const tag = first.headers.get('etag') ?? '';
    const { nodes } = (await first.json()) as { nodes: { id: string[] } };
    expect(nodes.id.length).toBeGreaterThan(20);
    expect((await adaAt(1).send(getSnapshot, {}, { 'if-none-match': tag })).status).toBe(304);
    await adaAt(1).call(createNode, { type: 'organization', name: 'Another' });
    const changed = await adaAt(0).send(getSnapshot, {}, { 'if-none-match': tag });
    expect(changed.status).toBe(200);
    expect(((await changed.json()) as { nodes: { id: string[] } }).nodes.id).toHaveLength(nodes.id.length + 1);
  });

  it('shows who gains before sharing widens, and hides a node at every gateway as if it did not exist [errors.node-not-found]', async () => {
    const bela = await world.newcomer('Béla', 'write');
    const secret = await world.ada.call(createNode, {
      type: 'organization',
      name: 'Hidden plans',
      visibility: 'private',
    });
    for (const url of world.urls) {
      const hidden = await bela.at(url).refusal(getNode, { node_id: secret.id });
      const absent = await bela.at(url).refusal(getNode, { node_id: ABSENT });
      const blank = (text: string): string => text.replaceAll(secret.id, 'ID').replaceAll(ABSENT, 'ID');
      expect(blank(JSON.stringify({ ...hidden, request_id: '' }))).toBe(
        blank(JSON.stringify({ ...absent, request_id: '' })),
      );
      expect(hidden).toMatchObject({ status: 404, code: 'NODE_NOT_FOUND' });
      expect((await bela.at(url).call(search, { query: 'hidden plans' })).items).toEqual([]);
    }
    const recipients = [{ kind: 'user' as const, id: bela.userId }];
    const asked = await adaAt(0).call(setAccess, { node_id: secret.id, visibility: 'group', recipients });
    expect(asked).toMatchObject({
      applied: false,
      preview: { widens: true, gains: [{ user_name: 'Béla', node_count: 1 }] },
    });
    expect((await bela.refusal(getNode, { node_id: secret.id })).status).toBe(404);
    await adaAt(1).call(setAccess, { node_id: secret.id, visibility: 'group', recipients, confirmed: true });
    expect(await bela.at(world.urls[1]).call(getNode, { node_id: secret.id })).toMatchObject({
      name: 'Hidden plans',
      access: { level: 'read' },
    });
  });
});

describe.each(ERAS)('an agent of the %s protocol at the second gateway', (era, mode) => {
  let agent: Client;

  beforeAll(async () => {
    agent = await connectMcp(adaAt(1), mode);
  });
  afterAll(() => agent.close());

  it('works with the graph that people see at the first [mcp.both-eras, mcp.list-nodes.scope-global]', async () => {
    const { items } = (await callTool(agent, 'svc_list_nodes', { scope: 'global', query: 'second oven' })) as {
      items: { id: string; name: string }[];
    };
    expect(items.map((node) => node.name)).toEqual(['Second oven']);
    const context = await callTool(agent, 'svc_get_context', { node_id: items[0]?.id, depth: 1 });
    expect(context).toMatchObject({ node: { name: 'Second oven' }, depth: 1 });
    const organization = await nodeNamed('Linden Bakery');
    const made = await callTool(agent, 'svc_create_node', {
      type: 'process',
      name: `Tasting ${era}`,
      organization_id: organization.id,
    });
    await callTool(agent, 'svc_log', { node_id: made['id'], kind: 'note', content: `Tasted by ${era}` });
    expect(
      (await world.ada.call(listEvents, { node_id: String(made['id']) })).items.map((event) => event.content),
    ).toEqual([`Tasted by ${era}`]);
    const { items: hits } = (await callTool(agent, 'svc_search', { query: `tasted ${era}` })) as {
      items: { node: { id: string } }[];
    };
    expect(hits.map((hit) => hit.node.id)).toContain(made['id']);
    const audit = await world.ada.call(listAudit, { target_id: String(made['id']) });
    expect(audit.items.map((entry) => [entry.action, entry.via])).toContainEqual(['create_node', 'mcp']);
  });
});

it('lets a device token open the MCP endpoint, for a client without a workspace of its own [identity.device-token.mcp, identity.device-token.format]', async () => {
  const made = await world.ada.call(createToken, { label: 'A laptop', scope: 'read', kind: 'device' });
  expect(made.secret).toMatch(/^svc_dev_/);
  const agent = await connectMcp(new RestClient(world.urls[1], made.secret), 'legacy');
  expect(await callTool(agent, 'svc_whoami', {})).toMatchObject({ scope: 'read', user: { name: 'Ada' } });
  await agent.close();
});

describe('what happens at one gateway', () => {
  it('is told within a second to streams that are open at the other, to those who may see it only', async () => {
    const node = await world.ada.call(createNode, { type: 'organization', name: 'Watched' });
    const reader = (await world.newcomer('Watcher', 'read')).at(world.urls[1]);
    const uri = `svc://node/${node.id}`;
    const streams = [await openSessionStream(reader, uri), await openListenStream(reader, uri)];
    await adaAt(0).call(updateNode, { node_id: node.id, name: 'Watched closely' });
    await until('both streams hear of it', () => streams.every((stream) => stream.text().includes(uri)), 20_000);
    await adaAt(0).call(setAccess, { node_id: node.id, visibility: 'private' });
    expect((await reader.refusal(getNode, { node_id: node.id })).status).toBe(404);
    const heard = streams.map((stream) => stream.text());
    await adaAt(0).call(updateNode, { node_id: node.id, name: 'Watched in private' });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(streams.map((stream) => stream.text())).toEqual(heard);
    await world.ada.call(updateUser, { user_id: (await reader.call(whoami, {})).user.id, disabled: true });
    await Promise.all(streams.map((stream) => stream.ended));
  });

  it('ends the streams and sessions of a revoked credential at the other within a second [identity.token.revoked-refused, access.revoke.within-a-second]', async () => {
    const made = await world.newcomer('Leaver', 'read');
    const leaver = made.at(world.urls[1]);
    const node = await nodeNamed('Linden Bakery');
    const session = await openSessionStream(leaver, `svc://node/${node.id}`);
    const listening = await openListenStream(leaver, `svc://node/${node.id}`);
    await leaver.call(getNode, { node_id: node.id });
    const looks = looksUntilSettled('both streams end', [session.ended, listening.ended]);
    await adaAt(0).call(revokeToken, { token_id: made.tokenId });
    expect(await looks).toBeLessThan(LOOKS_OF_A_SECOND);
    expect((await leaver.refusal(getNode, { node_id: node.id })).status).toBe(401);
    expect(await statusOfSession(leaver, session.sessionId)).toBe(401);
  });

  it('lowers what a user may do at the other within a second', async () => {
    const writer = await world.newcomer('Lowered', 'write');
    const node = await nodeNamed('Linden Bakery');
    const note = { node_id: node.id, kind: 'note' as const, content: 'Still allowed' };
    await writer.at(world.urls[1]).call(logEvent, note);
    await adaAt(0).call(updateUser, { user_id: writer.userId, max_scope: 'read' });
    await until(
      'the other gateway knows',
      async () => (await writer.at(world.urls[1]).send(logEvent, note)).status === 403,
      1_000,
    );
  });
});

describe('the identity of a caller', () => {
  it('is what the gateway found out, not what the client says [identity.envelope.gateway-only]', async () => {
    const reader = await world.newcomer('Pretender', 'read');
    const claimed = {
      user_id: (await world.ada.call(whoami, {})).user.id,
      scope: 'manage',
      credential_id: null,
      via: 'system',
    };
    const forged = Buffer.from(JSON.stringify(claimed)).toString('base64url');
    const headers = { 'svc-caller': forged, 'x-user-id': claimed.user_id, 'x-scope': 'manage' };
    const input = { type: 'organization' as const, name: 'Forged' };
    expect(await reader.refusal(createNode, input, headers)).toMatchObject({
      status: 403,
      code: 'FORBIDDEN',
      details: { required_scope: 'manage' },
    });
    expect((await reader.call(whoami, {}, headers)).user.name).toBe('Pretender');
    const smuggled = await world.ada.fetch('/nodes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...input, caller: claimed }),
    });
    expect(smuggled.status).toBe(400);
  });
});

it('the page of each gateway takes a token for a cookie of its own, and no links are made', async () => {
  for (const url of world.urls) {
    const page = await fetch(`${url}/app/overview`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('/app/assets/')]);
    const body = JSON.stringify({ token: world.tokens[0] });
    const headers = { 'content-type': 'application/json' };
    const signedIn = await fetch(`${url}/app/sign-in`, { method: 'POST', headers, body });
    const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? [];
    const me = await fetch(`${url}/me`, { headers: { cookie, origin: url } });
    expect([signedIn.status, await me.json()]).toEqual([204, expect.objectContaining({ scope: 'manage' })]);
    const authorization = `Bearer ${world.tokens[0]}`;
    expect((await fetch(`${url}/app/links`, { method: 'POST', headers: { authorization } })).status).toBe(404);
    const signedOut = await fetch(`${url}/app/sign-out`, { method: 'POST', headers: { cookie, origin: url } });
    expect(signedOut.status).toBe(204);
    const headersOfPage = { cookie, 'sec-fetch-site': 'same-origin', origin: url };
    const status = async () => (await fetch(`${url}/me`, { headers: headersOfPage })).status;
    await until('the cookie has ended', async () => (await status()) === 401);
  }
});

describe('the operation of a central workspace', () => {
  it('spreads the work over all instances, which count and time it [bus.instances-share-load, edge.metrics]', async () => {
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => adaAt(index % 2 === 0 ? 0 : 1).call(listNodes, { limit: 1 })),
    );
    for (const service of ['graph-svc', 'gateway']) {
      for (const instance of world.central.instances(service)) {
        const metrics = await (await fetch(`${world.central.opsUrl(instance)}/metrics`)).text();
        const [, count] =
          /workspace_graph_\w+_seconds_count\{operation="list_nodes",outcome="ok"\} (\d+)/.exec(metrics) ?? [];
        expect([instance.name, Number(count) > 5]).toEqual([instance.name, true]);
        expect([instance.name, ...expositionProblems(metrics)]).toEqual([instance.name]);
        if (promtool) expect([instance.name, promtoolProblems(metrics)]).toEqual([instance.name, '']);
      }
    }
  });

  it('follows one request through gateway, bus and service in one trace [edge.traces]', async () => {
    const traceId = 'abcdefabcdefabcdefabcdefabcdef01';
    const parent = '1234567812345678';
    await adaAt(1).call(getOverview, {}, { traceparent: `00-${traceId}-${parent}-01` });
    const spanOf = (service: string, name: string) =>
      collector.spans.find((span) => span.traceId === traceId && span.service === service && span.name === name);
    const spans = () =>
      [
        spanOf('gateway', 'GET /overview'),
        spanOf('gateway', 'get_overview'),
        spanOf('graph-svc', 'get_overview'),
      ] as const;
    await until('every process has sent its part', () => spans().every((span) => span !== undefined));
    const [outer, call, served] = spans();
    expect([outer?.parentSpanId, call?.parentSpanId, served?.parentSpanId]).toEqual([
      parent,
      outer?.spanId,
      call?.spanId,
    ]);
  });

  it('names the request in the log of each service that worked on it [edge.request-id]', async () => {
    const response = await adaAt(1).send(listNodes, { limit: 1 }, { 'x-request-id': 'spec-request-4711' });
    expect(response.headers.get('x-request-id')).toBe('spec-request-4711');
    const services = () =>
      new Set(world.log.filter((line) => line.text.includes('spec-request-4711')).map((line) => line.service));
    await until('both have written it', () => services().size === 2);
  });

  it('refuses a body that is too large, from its length alone or as it comes [edge.body-limit, errors.payload-too-large]', async () => {
    const body = JSON.stringify({ type: 'organization', name: 'Large', description: 'x'.repeat(1_100_000) });
    const send = (sent: NonNullable<RequestInit['body']>) =>
      world.ada.fetch('/nodes', {
        method: 'POST',
        body: sent,
        headers: { 'content-type': 'application/json' },
        duplex: 'half',
      });
    const whole = await send(body);
    expect([whole.status, await whole.json()]).toMatchObject([
      413,
      { code: 'PAYLOAD_TOO_LARGE', details: { limit_bytes: 1_048_576 } },
    ]);
    const streamed = await send(new Blob([body]).stream());
    expect(streamed.status).toBe(413);
    expect(await world.ada.call(listNodes, { query: 'Large', type: ['organization'] })).toMatchObject({ items: [] });
  });

  it('limits a credential at a gateway and nobody else there [edge.rate-limit.per-credential, errors.rate-limited]', async () => {
    const added = await world.central.add('gateway', { variables: { SVC_RATE_LIMIT_PER_MINUTE: '30' } });
    const url = world.central.opsUrl(added);
    const greedy = (await world.newcomer('Greedy', 'read')).at(url);
    await greedy.call(whoami, {});
    const answers = await Promise.all(Array.from({ length: 60 }, () => greedy.send(whoami, {})));
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBeGreaterThan(20);
    expect(answers.filter((answer) => answer.status === 200).length).toBeGreaterThan(20);
    expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/);
    await world.ada.at(url).call(whoami, {});
    expect(await added.stop()).toBe(true);
  });

  it('writes one JSON object per line and no secret into any log [edge.logs.structured-without-secrets, config.secrets.not-printed]', async () => {
    const { secret } = await world.ada.call(createToken, { label: 'for the log', scope: 'read' });
    await new RestClient(world.urls[0], secret).call(listTokens, {});
    await fetch(new URL(`/nodes?token=${secret}`, world.urls[0]));
    const secrets = [...world.central.passwords, ...world.tokens, secret];
    expect(secrets.length).toBeGreaterThan(5);
    const text = world.log.map((line) => line.text).join('\n');
    for (const one of secrets) expect(text.includes(one)).toBe(false);
    for (const line of world.log) expect(() => JSON.parse(line.text) as unknown).not.toThrow();
  });
});
