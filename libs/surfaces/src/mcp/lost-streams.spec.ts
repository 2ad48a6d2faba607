import { type McpHarness, startMcp } from '../../test/mcp/harness.js';
import { follow, openSession } from '../../test/mcp/raw-session.js';
import { NETWORK_ID, ORG_ID } from '../../test/mcp/small-graph.js';
import { until } from '../../test/mcp/until.js';

type Stream = ReturnType<typeof follow>;

const NETWORK = `svc://node/${NETWORK_ID}`;
const ORG = `svc://node/${ORG_ID}`;
/** A busy machine takes its time. */
const PATIENCE_MS = 20_000;
const LISTS_CHANGED = 'notifications/tools/list_changed';

describe('a client whose stream for notifications broke [mcp.streamable-http]', () => {
  let mcp: McpHarness;
  let changes = 0;

  beforeEach(async () => {
    mcp = await startMcp({ watchDelayMs: 10 });
  });
  afterEach(() => mcp.close());

  it('hears, when it comes back, that a node it watches has changed meanwhile', async () => {
    const id = await watching(NETWORK);
    const lost = new AbortController();
    await openStream(id, {}, lost.signal);
    lost.abort();
    await until(() => mcp.service.counts.streams === 0, PATIENCE_MS);
    const witness = await openStream(await watching(NETWORK));
    await change(NETWORK_ID);
    await told(witness, NETWORK);
    const back = await openStream(id);
    await told(back, NETWORK);
    await end(id, back);
  });

  it('hears nothing when nothing has changed', async () => {
    const id = await watching(NETWORK);
    const lost = new AbortController();
    await openStream(id, {}, lost.signal);
    lost.abort();
    await until(() => mcp.service.counts.streams === 0, PATIENCE_MS);
    const looks = () => mcp.graph.called.filter((name) => name === 'get_node').length;
    const before = looks();
    const back = await openStream(id);
    await until(() => looks() > before, PATIENCE_MS);
    await end(id, back);
    expect(back.text()).not.toContain(NETWORK);
  });

  it('hears again what went into a stream that was lost without anybody noticing', async () => {
    const id = await watching(NETWORK);
    const lost = await openStream(id);
    await change(NETWORK_ID);
    await told(lost, NETWORK);
    const back = await openStream(id);
    await lost.ended;
    await told(back, NETWORK);
    await until(() => mcp.service.counts.streams === 1, PATIENCE_MS);
    await end(id, back);
  });

  it('hears only what came after the event that it names as its last', async () => {
    const id = await watching(NETWORK, ORG);
    const lost = await openStream(id);
    await change(NETWORK_ID);
    await told(lost, NETWORK);
    const [, last = ''] = /^id: (.+)$/m.exec(lost.text()) ?? [];
    await change(ORG_ID);
    await told(lost, ORG);
    const back = await openStream(id, { 'last-event-id': last });
    await told(back, ORG);
    await end(id, back);
    expect(back.text()).not.toContain(NETWORK);
  });

  it('hears everything when the event that it names is none of this session', async () => {
    const id = await watching(NETWORK);
    const lost = await openStream(id);
    await change(NETWORK_ID);
    await told(lost, NETWORK);
    const back = await openStream(id, { 'last-event-id': '99' });
    await told(back, NETWORK);
    await end(id, back);
  });

  it('hears that other tools are listed since the scope of its credential has changed', async () => {
    const id = await openSession(mcp, 'reader');
    mcp.identity.set('reader', { scope: 'write' });
    const offered = async () => (await post(id, 'tools/list')).text();
    // The edge asks identity again within half a second.
    while (!(await offered()).includes('svc_log')) await new Promise((resolve) => setTimeout(resolve, 20));
    const back = await openStream(id);
    await told(back, LISTS_CHANGED);
    await end(id, back);
  });

  it('hears nothing of a node that it has stopped watching', async () => {
    const id = await watching(NETWORK, ORG);
    const lost = await openStream(id);
    await change(NETWORK_ID);
    await told(lost, NETWORK);
    await change(ORG_ID);
    await told(lost, ORG);
    await post(id, 'resources/unsubscribe', { uri: NETWORK });
    const back = await openStream(id);
    await told(back, ORG);
    await end(id, back);
    expect(back.text()).not.toContain(NETWORK);
  });

  async function watching(...uris: readonly string[]): Promise<string> {
    const id = await openSession(mcp, 'reader');
    for (const uri of uris) expect((await post(id, 'resources/subscribe', { uri })).status).toBe(200);
    return id;
  }

  function post(id: string, method: string, params: object = {}): Promise<Response> {
    return mcp.fetch({
      as: 'reader',
      headers: { 'mcp-session-id': id },
      body: { jsonrpc: '2.0', id: 3, method, params },
    });
  }

  async function openStream(id: string, headers: object = {}, signal?: AbortSignal): Promise<Stream> {
    const request = { as: 'reader', method: 'GET', headers: { 'mcp-session-id': id, ...headers } };
    const response = await mcp.fetch(signal ? { ...request, signal } : request);
    expect(response.status).toBe(200);
    return follow(response);
  }

  async function change(nodeId: string): Promise<void> {
    mcp.graph.edit(nodeId);
    changes += 1;
    const payload = { node_ids: [nodeId], action: 'update_node' };
    await mcp.bus.publish({ type: 'graph.changed', id: String(changes), payload });
  }

  function told(stream: Stream, text: string): Promise<void> {
    return until(() => stream.text().includes(text), PATIENCE_MS);
  }

  async function end(id: string, stream: Stream): Promise<void> {
    await mcp.fetch({ as: 'reader', method: 'DELETE', headers: { 'mcp-session-id': id } });
    await stream.ended;
  }
});
