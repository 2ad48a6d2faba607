import { once } from 'node:events';
import http from 'node:http';
import { keptBytes } from '@workspace-graph/testing';
import { tokenOf } from '../../test/mcp/fake-identity.js';
import { type McpHarness, startMcp } from '../../test/mcp/harness.js';
import { follow, INITIALIZE, LIST_TOOLS, modern, openSession } from '../../test/mcp/raw-session.js';
import { NETWORK_ID } from '../../test/mcp/small-graph.js';
import { until } from '../../test/mcp/until.js';
import { DEFAULT_MCP_SETTINGS } from './index.js';

const call = (id: number, name: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});

describe('a session', () => {
  let mcp: McpHarness;

  beforeEach(async () => {
    mcp = await startMcp({ watchDelayMs: 10, drainMs: 300 });
  });
  afterEach(() => mcp.close());

  const post = (as: string, id: string | null, body: unknown) =>
    mcp.fetch({ as, headers: { 'mcp-session-id': id }, body });
  const openStream = (as: string, id: string) => mcp.fetch({ as, method: 'GET', headers: { 'mcp-session-id': id } });
  const listen = (as: string, notifications: Record<string, unknown>) =>
    mcp.fetch({ as, ...modern('subscriptions/listen', { notifications }) });

  it('is named by the answer to the handshake, and its replies are plain JSON', async () => {
    const opened = await mcp.fetch({ as: 'reader', body: INITIALIZE });
    expect(opened.headers.get('content-type')).toMatch(/^application\/json/);
    const id = opened.headers.get('mcp-session-id');
    expect(id).toMatch(/^[\x21-\x7e]{16,}$/);
    const listed = await post('reader', id, LIST_TOOLS);
    expect(listed.status).toBe(200);
    expect(await listed.json()).toMatchObject({ id: 1, result: { tools: expect.any(Array) } });
  });

  it('is unknown to every credential but the one that opened it [mcp.session.isolated]', async () => {
    mcp.identity.set('reader-2', { scope: 'read', user: 'reader' });
    const id = await openSession(mcp, 'reader');
    const foreign = await post('reader-2', id, LIST_TOOLS);
    const absent = await post('reader-2', 'no-such-session', LIST_TOOLS);
    expect([foreign.status, await foreign.text()]).toEqual([404, await absent.text()]);
    expect((await mcp.fetch({ as: 'writer', method: 'DELETE', headers: { 'mcp-session-id': id } })).status).toBe(404);
    expect((await post('reader', id, LIST_TOOLS)).status).toBe(200);
  });

  it('needs its id on every request after the handshake', async () => {
    await openSession(mcp, 'reader');
    expect((await post('reader', null, LIST_TOOLS)).status).toBe(400);
    expect((await mcp.fetch({ as: 'reader', method: 'GET' })).status).toBe(400);
  });

  it('takes a few messages in one request, and not thousands', async () => {
    const id = await openSession(mcp, 'reader');
    const batch = (size: number) => Array.from({ length: size }, (_, index) => call(index + 1, 'svc_whoami'));
    const many = await post('reader', id, batch(5_000));
    expect(many.status).toBe(400);
    expect(await many.json()).toMatchObject({ error: { code: -32600 } });
    expect(mcp.graph.called).toEqual([]);
    expect((await post('reader', id, batch(20))).status).toBe(200);
    expect(mcp.graph.called).toHaveLength(20);
  });

  it('ends when its client deletes it', async () => {
    const id = await openSession(mcp, 'reader');
    const stream = follow(await openStream('reader', id));
    expect((await mcp.fetch({ as: 'reader', method: 'DELETE', headers: { 'mcp-session-id': id } })).status).toBe(200);
    await stream.ended;
    expect((await post('reader', id, LIST_TOOLS)).status).toBe(404);
    expect(mcp.service.counts).toEqual({ sessions: 0, streams: 0, calls: 0 });
  });

  it('is not opened by a handshake that fails', async () => {
    const broken = await mcp.fetch({ as: 'reader', body: { ...INITIALIZE, params: {} } });
    expect(broken.status).toBe(400);
    expect(broken.headers.get('mcp-session-id')).toBeNull();
    expect(mcp.service.counts.sessions).toBe(0);
  });

  it('answers every request: also a cancelled one, and two with one id', async () => {
    const id = await openSession(mcp, 'reader');
    mcp.graph.hanging.add('whoami');
    const waiting = post('reader', id, call(5, 'svc_whoami'));
    await until(() => mcp.graph.called.includes('whoami'));
    const twin = await post('reader', id, call(5, 'svc_whoami'));
    expect(twin.status).toBe(400);
    await post('reader', id, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } });
    expect(await (await waiting).json()).toMatchObject({
      id: 5,
      error: { message: expect.stringContaining('cancelled') },
    });
    expect(mcp.graph.aborted).toEqual(['whoami']);
  });

  it('ends at once when its credential is revoked, with its stream and its calls [mcp.session.isolated]', async () => {
    const id = await openSession(mcp, 'reader');
    const stream = follow(await openStream('reader', id));
    mcp.graph.hanging.add('whoami');
    const waiting = post('reader', id, call(5, 'svc_whoami'));
    await until(() => mcp.graph.called.includes('whoami'));
    const revokedAtMs = performance.now();
    await mcp.identity.revoke('reader');
    await stream.ended;
    expect((await waiting).status).toBe(401);
    expect(performance.now() - revokedAtMs).toBeLessThan(1_000);
    expect(mcp.graph.aborted).toEqual(['whoami']);
    expect((await post('reader', id, LIST_TOOLS)).status).toBe(401);
    await until(() => mcp.service.counts.sessions === 0);
  });

  it('is not served for a credential that ended while the body was on its way', async () => {
    const { headers, body } = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const text = JSON.stringify(body);
    const request = http.request(mcp.url, {
      method: 'POST',
      headers: {
        ...headers,
        authorization: `Bearer ${tokenOf('reader')}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'content-length': text.length,
      },
    });
    const answered = once(request, 'response');
    request.write(text.slice(0, 10));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await mcp.identity.revoke('reader');
    request.end(text.slice(10));
    const [response] = (await answered) as [http.IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(401);
    await once(response, 'close');
  });

  it('loses its stream, not itself, when its credential expires and is renewed', async () => {
    mcp.identity.set('reader', { scope: 'read', lifeMs: 1_200 });
    const id = await openSession(mcp, 'reader');
    const stream = follow(await openStream('reader', id));
    const modernStream = follow(await listen('reader', { toolsListChanged: true }));
    await Promise.all([stream.ended, modernStream.ended]);
    expect((await post('reader', id, LIST_TOOLS)).status).toBe(401);
    mcp.identity.set('reader', { scope: 'read' });
    expect((await post('reader', id, LIST_TOOLS)).status).toBe(200);
  });

  it('hears that other tools and prompts are listed when the scope of its credential has changed', async () => {
    const id = await openSession(mcp, 'reader');
    const stream = follow(await openStream('reader', id));
    const modernStream = follow(await listen('reader', { toolsListChanged: true, promptsListChanged: true }));
    mcp.identity.set('reader', { scope: 'write' });
    const told = ({ text }: { text: () => string }) =>
      ['tools', 'prompts'].every((listed) => text().includes(`notifications/${listed}/list_changed`));
    const deadlineMs = Date.now() + 60_000;
    // The edge asks identity again within half a second.
    while (!(told(stream) && told(modernStream)) && Date.now() < deadlineMs) {
      await post('reader', id, LIST_TOOLS);
      await mcp.fetch({ as: 'reader', ...modern('tools/list') });
    }
    expect([told(stream), told(modernStream)]).toEqual([true, true]);
    await mcp.identity.revoke('reader');
    await Promise.all([stream.ended, modernStream.ended]);
  });

  it('hears nothing more of a node after it has stopped watching', async () => {
    const id = await openSession(mcp, 'reader');
    const stream = follow(await openStream('reader', id));
    const uri = `svc://node/${NETWORK_ID}`;
    const watch = async (method: string) =>
      (await post('reader', id, { jsonrpc: '2.0', id: 3, method, params: { uri } })).json();
    expect(await watch('resources/subscribe')).toMatchObject({ result: {} });
    expect(await watch('resources/unsubscribe')).toMatchObject({ result: {} });
    mcp.graph.edit(NETWORK_ID);
    await mcp.bus.publish({
      type: 'graph.changed',
      id: '1',
      payload: { node_ids: [NETWORK_ID], action: 'update_node' },
    });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(stream.text()).toBe('');
    expect(mcp.graph.called.filter((name) => name === 'get_node')).toHaveLength(1);
    await mcp.fetch({ as: 'reader', method: 'DELETE', headers: { 'mcp-session-id': id } });
    await stream.ended;
  });

  it('has one stream for notifications at a time, and the newest is the one', async () => {
    const id = await openSession(mcp, 'reader');
    const first = follow(await openStream('reader', id));
    const second = await openStream('reader', id);
    expect(second.status).toBe(200);
    await first.ended;
    await until(() => mcp.service.counts.streams === 1);
    const again = follow(second);
    await mcp.fetch({ as: 'reader', method: 'DELETE', headers: { 'mcp-session-id': id } });
    await again.ended;
  });

  it('ends cleanly when the process stops: calls end first, then streams [edge.shutdown.graceful]', async () => {
    const id = await openSession(mcp, 'reader');
    const stream = follow(await openStream('reader', id));
    const modernStream = follow(await listen('reader', { toolsListChanged: true }));
    mcp.graph.delayMs = 100;
    const waiting = post('reader', id, call(5, 'svc_whoami'));
    await until(() => mcp.graph.called.includes('whoami'));
    const closing = mcp.close();
    expect(await (await waiting).json()).toMatchObject({ id: 5, result: { structuredContent: { scope: 'read' } } });
    await Promise.all([closing, stream.ended, modernStream.ended]);
    expect(modernStream.text()).toContain('"resultType":"complete"');
    mcp = await startMcp();
  });
});

describe('many sessions', () => {
  it('make room for a new one: the oldest idle one of whoever has the most goes [mcp.session.isolated]', async () => {
    const mcp = await startMcp({ maxSessions: 4 });
    const boss = await openSession(mcp, 'boss');
    const [first, second, third] = [
      await openSession(mcp, 'reader'),
      await openSession(mcp, 'reader'),
      await openSession(mcp, 'reader'),
    ];
    const status = async (as: string, id: string) =>
      (await mcp.fetch({ as, headers: { 'mcp-session-id': id }, body: LIST_TOOLS })).status;
    expect(await status('reader', first)).toBe(200);
    const fourth = await openSession(mcp, 'writer');
    expect(mcp.service.counts.sessions).toBe(4);
    expect(await status('reader', second)).toBe(404);
    expect([
      await status('reader', first),
      await status('reader', third),
      await status('boss', boss),
      await status('writer', fourth),
    ]).toEqual([200, 200, 200, 200]);
    await mcp.close();
  });

  it('of one holder, all in use, neither push others out nor keep others away [mcp.session.isolated]', async () => {
    const mcp = await startMcp({ maxSessions: 4 });
    const quiet = await openSession(mcp, 'writer');
    const streams: { readonly ended: Promise<void> }[] = [];
    for (let opened = 0; opened < 3; opened += 1) {
      const id = await openSession(mcp, 'reader');
      streams.push(follow(await mcp.fetch({ as: 'reader', method: 'GET', headers: { 'mcp-session-id': id } })));
    }
    const refused = await mcp.fetch({ as: 'reader', body: INITIALIZE });
    expect(refused.status).toBe(503);
    const status = async (as: string, id: string) =>
      (await mcp.fetch({ as, headers: { 'mcp-session-id': id }, body: LIST_TOOLS })).status;
    expect(await status('writer', quiet)).toBe(200);
    const late = await openSession(mcp, 'boss');
    await streams[0]?.ended;
    expect([await status('boss', late), await status('writer', quiet)]).toEqual([200, 200]);
    await mcp.close();
    await Promise.all(streams.map((stream) => stream.ended));
  });

  it('are not the way to more streams of the newest protocol than half of all for one user', async () => {
    const mcp = await startMcp({ maxStreams: 4 });
    const listen = (as: string) =>
      mcp.fetch({ as, ...modern('subscriptions/listen', { notifications: { toolsListChanged: true } }) });
    const opened = [follow(await listen('reader')), follow(await listen('reader'))];
    await until(() => mcp.service.counts.streams === 2);
    expect((await listen('reader')).status).toBe(503);
    const other = await listen('writer');
    expect(other.status).toBe(200);
    await mcp.close();
    await Promise.all([...opened, follow(other)].map((stream) => stream.ended));
  });

  it('can be open a thousand at once, at less than 0.2 MB each [mcp.session.thousand-open]', async () => {
    const mcp = await startMcp();
    const heapBefore = keptBytes();
    for (let opened = 0; opened < 1_000; opened += 20) {
      await Promise.all(Array.from({ length: 20 }, () => openSession(mcp, 'reader')));
    }
    const opened = mcp.service.counts.sessions;
    const bytesEach = (keptBytes() - heapBefore) / 1_000;
    await mcp.close();
    expect(opened).toBe(1_000);
    expect(bytesEach).toBeLessThan(200_000);
  });

  it('are refused when all are in use', async () => {
    const mcp = await startMcp({ maxSessions: 1 });
    const id = await openSession(mcp, 'reader');
    const stream = follow(await mcp.fetch({ as: 'reader', method: 'GET', headers: { 'mcp-session-id': id } }));
    const refused = await mcp.fetch({ as: 'writer', body: INITIALIZE });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await mcp.close();
    await stream.ended;
  });

  it('are closed when nobody uses them for long; an open stream is use [limits.idle-30-minutes]', async () => {
    expect(DEFAULT_MCP_SETTINGS.idleMs).toBe(30 * 60_000);
    const mcp = await startMcp({ idleMs: 300 });
    await openSession(mcp, 'reader');
    const used = await openSession(mcp, 'reader');
    const stream = follow(await mcp.fetch({ as: 'reader', method: 'GET', headers: { 'mcp-session-id': used } }));
    await until(() => mcp.service.counts.sessions === 1);
    const kept = await mcp.fetch({ as: 'reader', headers: { 'mcp-session-id': used }, body: LIST_TOOLS });
    expect(kept.status).toBe(200);
    await mcp.close();
    await stream.ended;
  });
});
