import { addDataSource, addTool, getNode, removeDataSource, removeTool } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
let node: NodeAnswer;
beforeAll(async () => {
  graph = await startGraph();
});
beforeEach(async () => {
  node = await graph.node('project', `Node ${newId()}`);
});
afterAll(() => graph.close());

const read = () => graph.call(getNode, { node_id: node.id }, graph.reader);

describe('data sources and tools', () => {
  it('have a name and may have a link; they are added in order and removed [graph.data-sources.name-and-url] [graph.tools.name-and-url]', async () => {
    const source = await graph.call(
      addDataSource,
      { node_id: node.id, name: ' Numbers ', url: 'https://example.org/a?b=c#d' },
      graph.admin,
    );
    expect(source).toEqual({ id: expect.any(String), name: 'Numbers', url: 'https://example.org/a?b=c#d' });
    const second = await graph.call(addDataSource, { node_id: node.id, name: 'More' }, graph.admin);
    const tool = await graph.call(
      addTool,
      { node_id: node.id, name: 'Numbers', url: 'mailto:desk@example.org' },
      graph.admin,
    );
    expect(await read()).toMatchObject({ data_sources: [source, second], tools: [tool], version: 4 });

    await graph.call(removeDataSource, { data_source_id: source.id }, graph.admin);
    const third = await graph.call(addDataSource, { node_id: node.id, name: 'Third' }, graph.admin);
    await graph.call(removeTool, { tool_id: tool.id }, graph.admin);
    expect(await read()).toMatchObject({ data_sources: [{ ...second, url: null }, third], tools: [], version: 7 });
    await graph.refusal(removeDataSource, { data_source_id: source.id }, graph.admin, 'LINK_NOT_FOUND');
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://example.org',
    'example.org',
    'https://exa mple.org',
    '',
  ])('refuse the link %p, naming the field [graph.links.schemes]', async (url) => {
    for (const operation of [addDataSource, addTool]) {
      const error = await graph.refusal(
        operation,
        { node_id: node.id, name: 'X', url },
        graph.admin,
        'VALIDATION_FAILED',
      );
      expect(error.details).toMatchObject({ issues: [{ path: 'url' }] });
    }
    expect((await read()).version).toBe(1);
  });

  it('are told apart when one is removed', async () => {
    const tool = await graph.call(addTool, { node_id: node.id, name: 'Hammer' }, graph.admin);
    await graph.refusal(removeDataSource, { data_source_id: tool.id }, graph.admin, 'LINK_NOT_FOUND');
    expect((await read()).tools).toEqual([tool]);
  });

  it('keep dense positions under writers at once, and one of two removals wins', async () => {
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, i) => graph.call(addTool, { node_id: node.id, name: `Tool ${i}` }, graph.admin)),
    );
    const outcomes = await Promise.allSettled(
      [0, 0, 3].map((i) => graph.call(removeTool, { tool_id: made[i]?.id ?? '' }, graph.admin)),
    );
    expect(outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))).toEqual([
      'LINK_NOT_FOUND',
    ]);
    expect(await graph.sql('SELECT position FROM graph.link WHERE node_id = $1 ORDER BY position', [node.id])).toEqual(
      [0, 1, 2, 3].map((position) => ({ position })),
    );
  });

  it('are not for organizations and principles [graph.details.types]', async () => {
    const principle = await graph.node('principle', `Principle ${newId()}`);
    for (const { id } of [graph.organization, principle]) {
      for (const operation of [addDataSource, addTool]) {
        const error = await graph.refusal(operation, { node_id: id, name: 'X' }, graph.admin, 'VALIDATION_FAILED');
        expect(error.details).toMatchObject({ issues: [{ path: 'node_id' }] });
      }
    }
  });

  it('leave audit rows, need manage and an existing node, and check the version [access.tier.structure-needs-manage]', async () => {
    const tool = await graph.call(addTool, { node_id: node.id, name: 'Saw' }, graph.admin);
    await graph.refusal(removeTool, { tool_id: tool.id, expected_version: 1 }, graph.admin, 'CONFLICT');
    await graph.call(removeTool, { tool_id: tool.id, expected_version: 2 }, graph.admin);
    const fields = { node_id: node.id, name: 'Saw', url: null };
    expect(
      await graph.sql(
        'SELECT action, target_kind, before, after FROM audit.entry WHERE target_id = $1 ORDER BY at, id',
        [tool.id],
      ),
    ).toEqual([
      { action: 'add_tool', target_kind: 'tool', before: null, after: fields },
      { action: 'remove_tool', target_kind: 'tool', before: { ...fields, position: 0 }, after: null },
    ]);
    await graph.refusal(addTool, { node_id: node.id, name: 'X' }, graph.writer, 'FORBIDDEN');
    await graph.refusal(addTool, { node_id: newId(), name: 'X' }, graph.admin, 'NODE_NOT_FOUND');
  });
});
