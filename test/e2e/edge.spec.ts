import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createNode,
  createToken,
  createUser,
  getNode,
  listNodes,
  logEvent,
  type Node,
  revokeToken,
  type Scope,
  setAccess,
  updateUser,
  whoami,
} from '@workspace-graph/contracts';
import { expositionProblems, promtool, promtoolProblems } from '@workspace-graph/testing';
import { LOOKS_OF_A_SECOND, looksUntil } from '../central/looks.js';
import { callTool, connectMcp, ERAS, openListenStream, openSessionStream } from '../central/mcp-streams.js';
import { RestClient } from '../central/rest-client.js';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const PER_MINUTE = 120;
const BODY_MOST_BYTES = 1_048_576;
/** Within what every way through the product takes; only its content is too long. */
const BODY_TAKEN_BYTES = 990_000;

const folder = new WorkspaceFolder({ isStarted: true });
let owner: RestClient;
let organization: Node;

beforeAll(async () => {
  const { url } = await folder.start();
  owner = new RestClient(url, folder.token);
  organization = await owner.call(createNode, { type: 'organization', name: 'At the edge' });
}, START_MS);
afterAll(() => folder[Symbol.asyncDispose]());

/** Somebody new, with a token of this scope. */
async function newcomer(scope: Scope, kind: 'personal' | 'device' = 'personal') {
  const user = await owner.call(createUser, { name: `New ${scope}`, max_scope: scope });
  const made = await owner.call(createToken, { label: 'new', scope, kind, user_id: user.id });
  return Object.assign(new RestClient(owner.url, made.secret), { userId: user.id, tokenId: made.token.id });
}

/** Asks until the answer has this status. Answers how many had another one. */
function untilStatus(ask: () => Promise<Response>, status: number): Promise<number> {
  return looksUntil(`status ${status}`, async () => {
    const answer = await ask();
    await answer.text();
    return answer.status === status;
  });
}

/** A request whose Host header and whose way of sending are our own. Answers the status and the error code. */
async function raw(path: string, headers: Readonly<Record<string, string>>, body?: string) {
  const { hostname, port } = new URL(owner.url);
  const sent = request({ hostname, port, path, method: body === undefined ? 'GET' : 'POST', headers });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) as { code?: string } };
}

describe('a credential', () => {
  it('that is revoked, or whose user is disabled, opens nothing a second later [access.revoke.within-a-second, identity.token.revoked-refused]', async () => {
    const [first, second] = [await newcomer('read'), await newcomer('write')];
    for (const client of [first, second]) await client.call(whoami, {});
    await owner.call(revokeToken, { token_id: first.tokenId });
    await owner.call(updateUser, { user_id: second.userId, disabled: true });
    const waits = [first, second].map((client) => untilStatus(() => client.send(whoami, {}), 401));
    for (const looks of await Promise.all(waits)) expect(looks).toBeLessThan(LOOKS_OF_A_SECOND);
  });

  it('whose user may do less than before may do less a second later', async () => {
    const writer = await newcomer('write');
    const note = { node_id: organization.id, kind: 'note' as const, content: 'Still mine to write' };
    await writer.call(logEvent, note);
    await owner.call(updateUser, { user_id: writer.userId, max_scope: 'read' });
    expect(await untilStatus(() => writer.send(logEvent, note), 403)).toBeLessThan(LOOKS_OF_A_SECOND);
    await writer.call(getNode, { node_id: organization.id });
  });

  it('sees nothing of a node that was shut a moment ago, on streams either [access.revoke.within-a-second, access.hidden.nowhere]', async () => {
    const reader = await newcomer('read');
    const node = await owner.call(createNode, { type: 'organization', name: 'Shut in a moment' });
    const uri = `svc://node/${node.id}`;
    const streams = [await openSessionStream(reader, uri), await openListenStream(reader, uri)];
    await owner.call(setAccess, { node_id: node.id, visibility: 'private' });
    expect((await reader.refusal(getNode, { node_id: node.id })).status).toBe(404);
    expect((await reader.call(listNodes, { query: 'Shut in a moment' })).items).toEqual([]);
    await sleep(300);
    const heard = streams.map((stream) => stream.text());
    await owner.call(logEvent, { node_id: node.id, kind: 'note', content: 'Among ourselves' });
    await sleep(500);
    expect(streams.map((stream) => stream.text())).toEqual(heard);
    await owner.call(revokeToken, { token_id: reader.tokenId });
    await Promise.all(streams.map((stream) => stream.ended));
  });

  it.each(ERAS)(
    'of a device opens MCP in the %s protocol [identity.device-token.mcp, identity.device-token.format]',
    async (_era, mode) => {
      const device = await newcomer('read', 'device');
      expect(device.token).toMatch(/^svc_dev_/);
      const agent = await connectMcp(device, mode);
      expect(await callTool(agent, 'svc_whoami', {})).toMatchObject({ scope: 'read', user: { id: device.userId } });
      await agent.close();
    },
  );
});

describe('the edge of a local workspace', () => {
  it('answers to its own names only, and to no page of another origin [edge.host.dns-rebinding, edge.origin.cross-site, errors.host-not-allowed, errors.origin-not-allowed]', async () => {
    const { port } = new URL(owner.url);
    const authorization = `Bearer ${owner.token}`;
    expect(await raw('/nodes', { authorization, host: 'attacker.example' })).toMatchObject({
      status: 403,
      body: { code: 'HOST_NOT_ALLOWED' },
    });
    expect(await raw('/nodes', { authorization, host: `attacker.example:${port}` })).toMatchObject({ status: 403 });
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
      expect(await raw('/nodes', { authorization, host })).toMatchObject({ status: 200 });
    expect(await raw('/nodes', { authorization, origin: 'https://attacker.example' })).toMatchObject({
      status: 403,
      body: { code: 'ORIGIN_NOT_ALLOWED' },
    });
    expect(await raw('/mcp', { authorization, host: 'attacker.example' }, '{}')).toMatchObject({ status: 403 });
  });

  it('tells metrics by the rules of Prometheus [edge.metrics]', async () => {
    await owner.call(listNodes, {});
    const metrics = await (await fetch(new URL('/metrics', owner.url))).text();
    expect(metrics).toContain('workspace_graph_operation_seconds_count{operation="list_nodes",outcome="ok"}');
    expect(expositionProblems(metrics)).toEqual([]);
    if (promtool) expect(promtoolProblems(metrics)).toBe('');
  });

  it('tells nobody without a credential which routes there are [identity.every-route-authenticated, identity.nothing-open-by-default]', async () => {
    for (const path of ['/nodes', '/no/such/route', '/openapi.json', '/metricsx', '/mcp'])
      expect(await raw(path, {})).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });
    expect((await raw('/nodes', { authorization: 'Basic cm9vdDpyb290' })).status).toBe(401);
    expect((await raw(`/nodes?access_token=${owner.token}`, {})).status).toBe(401);
    expect(await raw('/no/such/route', { authorization: `Bearer ${owner.token}` })).toMatchObject({
      status: 404,
      body: { code: 'ROUTE_NOT_FOUND' },
    });
  });

  it('takes bodies up to the limit and refuses larger ones, whatever they say of their length [edge.body-limit, errors.payload-too-large]', async () => {
    const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' };
    const path = `/nodes/${organization.id}/events`;
    const bodyOf = (bytes: number): string => {
      const empty = JSON.stringify({ kind: 'note', content: '' });
      return JSON.stringify({ kind: 'note', content: 'x'.repeat(bytes - empty.length) });
    };
    const chunked = { ...headers, 'transfer-encoding': 'chunked' };
    for (const way of [headers, chunked]) {
      expect(await raw(path, way, bodyOf(BODY_TAKEN_BYTES))).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED' },
      });
      expect(await raw(path, way, bodyOf(BODY_MOST_BYTES + 1))).toMatchObject({
        status: 413,
        body: { code: 'PAYLOAD_TOO_LARGE', details: { limit_bytes: BODY_MOST_BYTES } },
      });
    }
    expect(
      await raw('/mcp', { ...headers, accept: 'application/json, text/event-stream' }, bodyOf(BODY_MOST_BYTES + 1)),
    ).toMatchObject({ status: 413 });
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect((await raw(path, headers, nested)).status).toBe(400);
    expect((await raw(path, headers, `{"kind":"note","content":${nested}}`)).status).toBe(400);
    await owner.call(whoami, {});
  });

  it(
    'limits each credential and each address by itself [edge.rate-limit.per-credential, edge.rate-limit.per-address, errors.rate-limited]',
    async () => {
      await using small = new WorkspaceFolder({ isStarted: true });
      const { url } = await small.start({ SVC_RATE_LIMIT_PER_MINUTE: String(PER_MINUTE) });
      const busy = new RestClient(url, small.token);
      const { secret } = await busy.call(createToken, { label: 'calm', scope: 'read' });
      const calm = new RestClient(url, secret);
      await calm.call(whoami, {});
      const ask = (client: RestClient): Promise<Response[]> =>
        Promise.all(Array.from({ length: 2 * PER_MINUTE }, () => client.send(whoami, {})));
      const refused = (await ask(busy)).filter((answer) => answer.status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(PER_MINUTE - 20);
      expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await refused[0]?.json()).toMatchObject({ code: 'RATE_LIMITED' });
      await calm.call(whoami, {});
      const guesses = await ask(new RestClient(url, 'svc_pat_guessed'));
      const statuses = new Set(guesses.map((answer) => answer.status));
      expect([...statuses].sort()).toEqual([401, 429]);
      await calm.call(whoami, {});
    },
    2 * START_MS,
  );
});
