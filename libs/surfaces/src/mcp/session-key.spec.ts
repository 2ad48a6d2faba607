import { type McpHarness, startMcp } from '../../test/mcp/harness.js';
import { modern, openSession } from '../../test/mcp/raw-session.js';
import { NETWORK_ID, ORG_ID } from '../../test/mcp/small-graph.js';
import { until } from '../../test/mcp/until.js';

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'svc_list_nodes', arguments: {} } };

describe('the key that tells connections of one credential apart', () => {
  let mcp: McpHarness;

  beforeEach(async () => {
    mcp = await startMcp();
  });
  afterEach(() => mcp.close());

  const keyOfLast = () => mcp.graph.callers.at(-1)?.session_key;
  const callWithin = async (as: string, id: string | null) => {
    const response = await mcp.fetch({ as, headers: { 'mcp-session-id': id }, body: CALL });
    await response.text();
    return response.status === 200 ? keyOfLast() : response.status;
  };
  const callAlone = async (as: string, home: string) => {
    const request = modern('tools/call', { name: 'svc_list_nodes', arguments: {} }, 'svc_list_nodes');
    const response = await mcp.fetch({ as, ...request, query: `?home_node_id=${home}` });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('SIG Network')]);
    return keyOfLast();
  };

  it('is the id of a session that the caller holds, and nothing that a client made up', async () => {
    const first = await openSession(mcp, 'reader');
    const second = await openSession(mcp, 'reader');

    expect(await callWithin('reader', first)).toBe(first);
    expect(await callWithin('reader', second)).toBe(second);
    expect(await callWithin('writer', first)).toBe(404);
    expect(await callWithin('reader', 'made-up')).toBe(404);
  });

  it('stays the same for one credential and home node where there are no sessions', async () => {
    const keys = [
      await callAlone('reader', ORG_ID),
      await callAlone('reader', ORG_ID),
      await callAlone('reader', NETWORK_ID),
      await callAlone('writer', ORG_ID),
    ];

    expect(keys[0]).toEqual(expect.any(String));
    expect(keys[1]).toBe(keys[0]);
    expect(new Set(keys).size).toBe(3);
  });

  it('is told once its session has ended', async () => {
    const ended: string[] = [];
    mcp.service.onSessionEnded((key) => void ended.push(key));
    const id = await openSession(mcp, 'reader');
    await mcp.fetch({ as: 'reader', method: 'DELETE', headers: { 'mcp-session-id': id } });
    await until(() => ended.length > 0);

    expect(ended).toEqual([id]);
  });
});
