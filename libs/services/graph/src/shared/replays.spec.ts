import { type Caller, createNode, logEvent, requestAccess, setPositions } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const note = (node_id: string, content = 'Once') => ({ node_id, kind: 'note' as const, content });
const refused = (work: Promise<unknown>) => expect(work).rejects.toMatchObject({ code: 'CONFLICT' });
const contents = async (node_id: string) =>
  (await graph.sql<{ content: string }>('SELECT content FROM graph.event WHERE node_id = $1', [node_id])).map(
    (event) => event.content,
  );

describe('the id of a call that was carried out', () => {
  it('answers the first reply to the same call, with the input spelt in another way too', async () => {
    const [{ id }, callId] = [await graph.node('area', 'Repeated'), newId()];
    const first = await graph.call(logEvent, note(id), graph.writer, callId);
    const spelt = { content: 'Once', kind: 'note' as const, node_id: id.toUpperCase() };
    expect(await graph.call(logEvent, spelt, graph.writer, callId)).toEqual(first);
    expect(await contents(id)).toEqual(['Once']);
  });

  it('is refused for another input, and the other input is not stored', async () => {
    const [{ id }, callId] = [await graph.node('area', 'Other input'), newId()];
    await graph.call(logEvent, note(id), graph.writer, callId);
    await refused(graph.call(logEvent, note(id, 'Twice'), graph.writer, callId));
    await refused(graph.call(logEvent, note(newId()), graph.writer, callId));
    expect(await contents(id)).toEqual(['Once']);
  });

  it('is refused for another operation, one statement or many', async () => {
    const [{ id }, callId] = [await graph.node('area', 'Other operation'), newId()];
    await graph.call(logEvent, note(id), graph.admin, callId);
    await refused(graph.call(setPositions, { positions: [{ node_id: id, x: 1, y: 1 }] }, graph.admin, callId));
    await refused(graph.call(createNode, { type: 'organization', name: 'Other' }, graph.admin, callId));
    await refused(graph.call(requestAccess, { node_id: newId() }, graph.admin, callId));
  });

  it('is refused to another user, and to the same one with a credential that sees less', async () => {
    const [{ id }, callId] = [await graph.node('area', 'Hidden', { visibility: 'private' }), newId()];
    const all: Caller = { ...graph.writer, scope: 'manage' };
    await graph.call(logEvent, note(id, 'Secret'), all, callId);
    await refused(graph.call(logEvent, note(id, 'Secret'), graph.admin, callId));
    await refused(graph.call(logEvent, note(id, 'Secret'), graph.writer, callId));
    expect(await graph.call(logEvent, note(id, 'Secret'), all, callId)).toMatchObject({ content: 'Secret' });
  });
});
