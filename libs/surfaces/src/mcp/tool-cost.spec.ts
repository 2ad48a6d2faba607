import type { Tool } from '@modelcontextprotocol/client';
import { OPERATIONS, REMOTE_OPERATIONS } from '@workspace-graph/contracts';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { type McpHarness, startMcp } from '../../test/mcp/harness.js';
import { modern } from '../../test/mcp/raw-session.js';

/** What a model may pay for all tools of a scope, each scope including the weaker ones. */
const MOST_TOKENS = { reader: 6_000, writer: 10_000, manager: 15_000 } as const;

/** Tools that the specification names. */
const NAMED = [
  'svc_mirror',
  'svc_store',
  'svc_pull',
  'svc_list_files',
  'svc_read_file',
  'svc_search_files',
  'svc_status',
  'svc_list_remotes',
  'svc_setup_remote',
  'svc_set_routing_policy',
  'svc_snapshot',
  'svc_move_file',
  'svc_rename_folder',
  'svc_delete_file',
  'svc_adopt_files',
];

describe('the list of tools', () => {
  let mcp: McpHarness;
  let local: McpHarness;

  beforeAll(async () => {
    mcp = await startMcp();
    local = await startMcp({}, { unlisted: REMOTE_OPERATIONS });
  });
  afterAll(() => Promise.all([mcp.close(), local.close()]));

  it.each(Object.entries(MOST_TOKENS))('costs a %s at most %d tokens [mcp.tools.cost]', async (credential, most) => {
    const response = await mcp.fetch({ as: credential, ...modern('tools/list') });
    const text = await response.text();
    expect(text).toContain('"svc_get_context"');
    expect(countTokens(text)).toBeLessThanOrEqual(most);
  });

  it('has every tool that the specification names', async () => {
    expect((await toolsOf(mcp)).map(({ name }) => name)).toEqual(expect.arrayContaining(NAMED));
  });

  it('leaves out what can only be refused in this workspace, and a call of it still says why [mcp.tools.useful-only]', async () => {
    const offered = (await toolsOf(local)).map(({ name }) => name);
    const refused = REMOTE_OPERATIONS.flatMap(({ mcp: binding }) => (binding ? [binding.tool] : []));
    expect(refused).toHaveLength(5);
    expect(offered.filter((name) => refused.some((other) => other === name))).toEqual([]);
    const bound = [...OPERATIONS.values()].filter((operation) => operation.mcp);
    expect(offered).toHaveLength(bound.length - refused.length);
    const client = await local.connect('manager', 'legacy');
    // The small graph has no remotes either; that it was asked shows that the tool is there.
    const result = await client.callTool({ name: 'svc_pull', arguments: {} });
    expect(result.content).toMatchObject([{ text: expect.stringContaining('SERVICE_UNAVAILABLE') }]);
  });

  it('tells of each field what an agent must know, and nothing that only a validator needs', async () => {
    const { inputSchema } = (await toolsOf(mcp)).find(({ name }) => name === 'svc_create_node') ?? {};
    expect(inputSchema).toMatchObject({
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['organization', 'project', 'process', 'area', 'principle'] },
        name: { type: 'string' },
        parent_ids: { type: 'array', items: { type: 'string' }, description: expect.any(String) },
        visibility: { type: 'string', enum: ['everyone', 'private', 'group'] },
      },
      required: ['type', 'name'],
    });
    const noise = /"(pattern|\$schema|additionalProperties|maxLength|minLength|maxItems|minItems|outputSchema)"/;
    expect(JSON.stringify(await toolsOf(mcp))).not.toMatch(noise);
  });

  async function toolsOf(harness: McpHarness): Promise<readonly Tool[]> {
    const client = await harness.connect('manager', 'legacy');
    return (await client.listTools()).tools;
  }
});
