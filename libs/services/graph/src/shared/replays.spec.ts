import {
  addDataSource,
  addResponsibility,
  addTool,
  archiveEvent,
  archiveNode,
  type Caller,
  connect,
  createActor,
  createNode,
  disconnect,
  type ErrorCode,
  editEvent,
  logEvent,
  moveNode,
  type Operation,
  purgeNode,
  removeDataSource,
  removeResponsibility,
  removeTool,
  reorderResponsibilities,
  requestAccess,
  resolveEvent,
  restoreNode,
  setAccess,
  setPositions,
  supersedeEvent,
  updateNode,
  updateResponsibility,
} from '@workspace-graph/contracts';
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

/** What a change is about, and its input. */
interface Prepared {
  readonly node: string;
  readonly input: Readonly<Record<string, unknown>>;
}
type Prepare = () => Promise<Prepared>;

const area = async (name = `Area ${newId()}`): Promise<string> => (await graph.node('area', name)).id;
const onNode =
  (input: (node_id: string) => Prepared['input'] | Promise<Prepared['input']>): Prepare =>
  async () => {
    const node = await area();
    return { node, input: await input(node) };
  };
const eventOn = async (node_id: string): Promise<string> => (await graph.call(logEvent, note(node_id), graph.admin)).id;
const dutyOn = async (node_id: string): Promise<string> =>
  (await graph.call(addResponsibility, { node_id, title: 'Duty' }, graph.admin)).id;

/** Changes that callers below manage make on a node that they see, and what a fresh one is answered without it. */
const BELOW_MANAGE: readonly (readonly [Operation, ErrorCode, Prepare])[] = [
  [logEvent, 'NODE_NOT_FOUND', onNode(note)],
  [editEvent, 'EVENT_NOT_FOUND', onNode(async (id) => ({ event_id: await eventOn(id), content: 'Twice' }))],
  [resolveEvent, 'EVENT_NOT_FOUND', onNode(async (id) => ({ event_id: await eventOn(id) }))],
  [supersedeEvent, 'EVENT_NOT_FOUND', onNode(async (id) => ({ event_id: await eventOn(id), content: 'Newer' }))],
  [archiveEvent, 'EVENT_NOT_FOUND', onNode(async (id) => ({ event_id: await eventOn(id) }))],
];

/** Changes of the structure; whoever may make them sees every node that there is. */
const AT_MANAGE: readonly (readonly [Operation, ErrorCode, Prepare])[] = [
  [updateNode, 'NODE_NOT_FOUND', onNode((node_id) => ({ node_id, name: 'Renamed' }))],
  [archiveNode, 'NODE_NOT_FOUND', onNode((node_id) => ({ node_id }))],
  [restoreNode, 'NODE_NOT_FOUND', onNode((node_id) => ({ node_id }))],
  [setAccess, 'NODE_NOT_FOUND', onNode((node_id) => ({ node_id, visibility: 'private' }))],
  [
    moveNode,
    'NODE_NOT_FOUND',
    onNode(async (node_id) => {
      const { id } = await graph.node('organization', `Other ${newId()}`);
      return { node_id, organization_id: id, confirmed: true };
    }),
  ],
  [
    connect,
    'NODE_NOT_FOUND',
    onNode(async (id) => ({ source_id: id, target_id: await area(), relation: 'related_to' })),
  ],
  [
    connect,
    'NODE_NOT_FOUND',
    onNode(async (id) => ({ source_id: await area(), target_id: id, relation: 'related_to' })),
  ],
  [
    disconnect,
    'EDGE_NOT_FOUND',
    onNode(async (id) => {
      const ends = { source_id: await area(), target_id: id, relation: 'informed_by' } as const;
      return { edge_id: (await graph.call(connect, ends, graph.admin)).edge?.id };
    }),
  ],
  [addResponsibility, 'NODE_NOT_FOUND', onNode((node_id) => ({ node_id, title: 'Duty' }))],
  [
    updateResponsibility,
    'RESPONSIBILITY_NOT_FOUND',
    onNode(async (id) => ({ responsibility_id: await dutyOn(id), title: 'Other' })),
  ],
  [removeResponsibility, 'RESPONSIBILITY_NOT_FOUND', onNode(async (id) => ({ responsibility_id: await dutyOn(id) }))],
  [
    reorderResponsibilities,
    'NODE_NOT_FOUND',
    onNode(async (node_id) => ({ node_id, responsibility_ids: [await dutyOn(node_id)] })),
  ],
  [addDataSource, 'NODE_NOT_FOUND', onNode((node_id) => ({ node_id, name: 'Source' }))],
  [
    removeDataSource,
    'LINK_NOT_FOUND',
    onNode(async (node_id) => ({
      data_source_id: (await graph.call(addDataSource, { node_id, name: 'Source' }, graph.admin)).id,
    })),
  ],
  [addTool, 'NODE_NOT_FOUND', onNode((node_id) => ({ node_id, name: 'Tool' }))],
  [
    removeTool,
    'LINK_NOT_FOUND',
    onNode(async (node_id) => ({ tool_id: (await graph.call(addTool, { node_id, name: 'Tool' }, graph.admin)).id })),
  ],
];

const repeated = (operation: Operation, input: unknown, caller: Caller, callId: string): Promise<unknown> =>
  graph.call(operation, input as never, caller, callId).catch((error: unknown) => error);
const hide = (node_id: string) => graph.call(setAccess, { node_id, visibility: 'private' }, graph.admin);
const purge = (node_id: string, callId = newId()) =>
  graph.call(purgeNode, { node_id, confirmed: true }, graph.admin, callId);
const cases = (changes: typeof BELOW_MANAGE) =>
  changes.map(([operation, code, prepare]) => ({ name: operation.name, operation, code, prepare }));

describe('a change that is repeated once its caller may see its node no more', () => {
  it.each(cases(BELOW_MANAGE))(
    'is answered as a fresh one, hidden or purged, and as before once it is seen again: $name [access.hidden.no-kept-reply]',
    async ({ operation, code, prepare }) => {
      const [{ node, input }, callId] = [await prepare(), newId()];
      const first = await repeated(operation, input, graph.writer, callId);
      expect(first).not.toBeInstanceOf(Error);
      await hide(node);
      const fresh = await repeated(operation, input, graph.writer, newId());
      const hidden = await repeated(operation, input, graph.writer, callId);
      expect(hidden).toMatchObject({ code });
      expect(hidden).toEqual(fresh);
      await graph.call(setAccess, { node_id: node, visibility: 'everyone', confirmed: true }, graph.admin);
      expect(await repeated(operation, input, graph.writer, callId)).toEqual(first);
      await purge(node);
      expect(await repeated(operation, input, graph.writer, callId)).toEqual(fresh);
    },
  );

  it('is answered as before to a caller who may still read the node and write on it no more', async () => {
    const [node, callId] = [await area(), newId()];
    const first = await repeated(logEvent, note(node), graph.writer, callId);
    const recipients = [{ kind: 'user' as const, id: graph.writer.user_id, access: 'read' as const }];
    await graph.call(setAccess, { node_id: node, visibility: 'group', recipients, confirmed: true }, graph.admin);
    expect(await repeated(logEvent, note(node), graph.writer, newId())).toMatchObject({ code: 'FORBIDDEN' });
    expect(await repeated(logEvent, note(node), graph.writer, callId)).toEqual(first);
  });

  it.each(cases(AT_MANAGE))(
    'is answered as a fresh one when the node is purged: $name [access.hidden.no-kept-reply]',
    async ({ operation, code, prepare }) => {
      const [{ node, input }, callId] = [await prepare(), newId()];
      const first = await repeated(operation, input, graph.admin, callId);
      expect(first).not.toBeInstanceOf(Error);
      expect(await repeated(operation, input, graph.admin, callId)).toEqual(first);
      await purge(node);
      expect(await repeated(operation, input, graph.admin, callId)).toMatchObject({ code });
    },
  );

  it('is answered as before where the caller purged the node by it [access.hidden.no-kept-reply]', async () => {
    const [node, callId] = [await area(), newId()];
    const first = await purge(node, callId);
    expect(await purge(node, callId)).toEqual(first);
    const demoted: Caller = { ...graph.admin, scope: 'write' };
    const input = { node_id: node, confirmed: true };
    expect(await repeated(purgeNode, input, demoted, callId)).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('is not carried out again when the node that it made is purged', async () => {
    const [callId, input] = [newId(), { type: 'area' as const, name: 'Made', organization_id: graph.organization.id }];
    const made = await graph.call(createNode, input, graph.admin, callId);
    await purge(made.id);
    await refused(graph.call(createNode, input, graph.admin, callId));
    expect(await graph.sql(`SELECT id FROM graph.node WHERE name = 'Made'`)).toEqual([]);
  });

  it('is answered as before where it is about no node', async () => {
    const [node, callId] = [await area(), newId()];
    const changes: readonly (readonly [Operation, object, Caller])[] = [
      [createActor, { type: 'person', name: 'Once' }, graph.admin],
      [setPositions, { positions: [{ node_id: node, x: 1, y: 1 }] }, graph.writer],
      [requestAccess, { node_id: newId() }, graph.reader],
    ];
    for (const [index, [operation, input, caller]] of changes.entries()) {
      const first = await repeated(operation, input, caller, `${callId}${index}`);
      await hide(node);
      expect(await repeated(operation, input, caller, `${callId}${index}`)).toEqual(first);
    }
  });
});
