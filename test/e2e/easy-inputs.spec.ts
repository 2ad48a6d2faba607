import { listEvents, listNodes, logEvent, type Node } from '@workspace-graph/contracts';
import { callTool, connectMcp, ERAS } from '../central/mcp-streams.js';
import { RestClient } from '../central/rest-client.js';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const [DATE, ITS_FIRST_MOMENT] = ['2026-11-22', '2026-11-22T00:00:00.000Z'];
const folder = new WorkspaceFolder({ isStarted: true });
let workspace: RunningWorkspace;
let project: Node;

beforeAll(async () => {
  workspace = await folder.start();
  expect((await folder.svc(['demo'])).code).toBe(0);
  const { items } = await workspace.call(listNodes, { query: 'Second oven' });
  project = items[0] as Node;
}, START_MS);
afterAll(() => folder[Symbol.asyncDispose]());

describe('what people and agents write without looking it up', () => {
  it('is taken by REST: a value for a list, a date for a time', async () => {
    const projects = (await (await workspace.fetch('/nodes?type=project')).json()) as { items: Node[] };
    expect(new Set(projects.items.map(({ type }) => type))).toEqual(new Set(['project']));
    const event = await workspace.call(logEvent, {
      node_id: project.id,
      kind: 'note',
      content: 'By REST',
      occurred_at: DATE,
    });
    expect(event.occurred_at).toBe(ITS_FIRST_MOMENT);
    const since = await workspace.call(listEvents, { node_id: project.id, from: DATE, to: '2026-11-23' });
    expect(since.items.map(({ content }) => content)).toContain('By REST');
  });

  it.each(ERAS)('is taken by the tools of an agent: %s', async (_era, mode) => {
    const agent = await connectMcp(new RestClient(workspace.url, folder.token), mode);
    try {
      const projects = await callTool(agent, 'svc_list_nodes', { scope: 'global', type: 'project' });
      expect(projects).toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ id: project.id })]) });
      const logged = { node_id: project.id, kind: 'note', content: 'By an agent', occurred_at: DATE };
      expect(await callTool(agent, 'svc_log', logged)).toMatchObject({ occurred_at: ITS_FIRST_MOMENT });
    } finally {
      await agent.close();
    }
  });

  it('is taken by an import', async () => {
    const document = {
      format: 'workspace-graph/1',
      nodes: [{ key: 'dated', type: 'organization', name: 'Dated' }],
      events: [{ key: 'dated-event', node: 'dated', kind: 'note', content: 'Imported', occurred_at: DATE }],
    };
    const imported = await folder.svc(['import', '-', '--json'], { input: JSON.stringify(document) });
    expect([imported.code, JSON.parse(imported.stdout)]).toMatchObject([0, { created: { events: 1 } }]);
    const { items } = await workspace.call(listNodes, { query: 'Dated' });
    const events = await workspace.call(listEvents, { node_id: items[0]?.id ?? '' });
    expect(events.items).toMatchObject([{ content: 'Imported', occurred_at: ITS_FIRST_MOMENT }]);
  });
});
