import { type McpHarness, startMcp } from '../../test/mcp/harness.js';
import { modern, openSession } from '../../test/mcp/raw-session.js';
import { ABSENT_ID, SECRET_ID } from '../../test/mcp/small-graph.js';

interface Answer {
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
  readonly result?: Record<string, unknown>;
}

const REF_FORMS = 'must be {"type": "ref/prompt", "name": …} or {"type": "ref/resource", "uri": …}';

describe.each(['handshake', 'newest'])('a request of the %s protocol [mcp.both-eras]', (era) => {
  let mcp: McpHarness;
  let session: string;

  beforeAll(async () => {
    mcp = await startMcp();
    session = await openSession(mcp, 'reader');
  });
  afterAll(() => mcp.close());

  const ask = async (method: string, params: Record<string, unknown>): Promise<Answer> => {
    const name = params['name'] ?? params['uri'];
    const response = await mcp.fetch({
      as: 'reader',
      ...(era === 'newest'
        ? modern(method, params, name === undefined ? undefined : String(name))
        : { headers: { 'mcp-session-id': session }, body: { jsonrpc: '2.0', id: 7, method, params } }),
    });
    return (await response.json()) as Answer;
  };

  it.each<[string, Record<string, unknown>, string]>([
    ['resources/read', {}, 'uri: is required'],
    ['resources/read', { uri: 7 }, 'uri: must be a string'],
    ['tools/call', {}, 'name: is required'],
    ['tools/call', { name: 'svc_get_node', arguments: 'x' }, 'arguments: must be an object'],
    ['prompts/get', { name: 'orient', arguments: { node_id: 7 } }, 'arguments.node_id: must be a string'],
    ['completion/complete', { ref: { type: 'x' }, argument: { name: 'node_id', value: '' } }, `ref: ${REF_FORMS}`],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'orient' }, argument: { name: 1 } },
      'argument.name: must be a string; argument.value: is required',
    ],
    ['tools/list', { cursor: 7 }, 'cursor: must be a string'],
  ])('%s with wrong parameters is told what is wrong with which, case %#', async (method, params, message) => {
    expect((await ask(method, params)).error).toEqual({
      code: -32602,
      message,
      data: {
        code: 'VALIDATION_FAILED',
        message,
        details: { issues: expect.any(Array) },
        request_id: expect.any(String),
      },
    });
  });

  it('that names a tool or a prompt that is not there is told where they are listed', async () => {
    const tool = await ask('tools/call', { name: 'svc_conquer' });
    const prompt = await ask('prompts/get', { name: 'sing' });
    expect(tool.error).toMatchObject({ code: -32602, message: expect.stringContaining('tools/list') });
    expect(prompt.error).toMatchObject({ code: -32602, message: expect.stringContaining('prompts/list') });
  });

  it('with a field that a tool does not know is told which it has', async () => {
    const { result } = await ask('tools/call', { name: 'svc_get_node', arguments: { node_id: ABSENT_ID, deep: 1 } });
    expect(result?.['structuredContent']).toMatchObject({ message: 'has no field "deep"; its fields are node_id' });
  });

  it('for a resource that is absent or hidden gets the code that its revision has for that', async () => {
    const code = era === 'newest' ? -32602 : -32002;
    for (const uri of [`svc://node/${ABSENT_ID}`, `svc://node/${SECRET_ID}`, 'svc://guide/none']) {
      expect((await ask('resources/read', { uri })).error).toEqual({
        code,
        message: `Resource not found: ${uri}`,
        data: { uri },
      });
    }
  });

  it('that is refused gets the error object as structured content and as text [errors.mcp.is-error]', async () => {
    const { result } = await ask('tools/call', { name: 'svc_get_node', arguments: { node_id: SECRET_ID } });
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'NODE_NOT_FOUND' } });
    expect(result?.['content']).toEqual([{ type: 'text', text: JSON.stringify(result?.['structuredContent']) }]);
  });
});
