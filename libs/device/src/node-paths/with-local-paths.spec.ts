import { randomUUID } from 'node:crypto';
import { type Bus, InProcessBus } from '@workspace-graph/bus';
import {
  type Envelope,
  getContext,
  getNode,
  getOverview,
  type InputOf,
  RawJson,
  resolveReferences,
  ServiceError,
} from '@workspace-graph/contracts';
import { createLogger, newId } from '@workspace-graph/platform';
import { withLocalPaths } from './with-local-paths.js';

const PATH = '/home/a "quoted" $& path/größe';
const away = new ServiceError('SERVICE_UNAVAILABLE', 'The centre is out of reach.');
const mirrored = newId();
const other = newId();
const paths = {
  folderOfNode: async (nodeId: string) => (nodeId === mirrored ? PATH : null),
  handoffFile: async () => null,
  namedHere: (error: unknown, { references }: InputOf<typeof resolveReferences>) =>
    error === away && references.every(({ text }) => text === 'Oven') ? [mirrored] : null,
};
const envelope: Envelope = {
  callId: randomUUID(),
  requestId: randomUUID(),
  caller: { user_id: newId(), scope: 'read', credential_id: null, via: 'mcp', home_node_id: mirrored },
};

const nodeText = (id: string, end = '"local_path" : null}'): string =>
  `{"id" : "${id}", "description" : "\\"local_path\\" : null}", "edges" : [], ${end}`;

let inner: InProcessBus;
let bus: Bus;
let answer: unknown;
beforeEach(async () => {
  inner = new InProcessBus({
    logger: createLogger({ process: 'test', level: 'fatal', sink: { write: () => undefined } }),
  });
  await inner.serve('graph', [getNode, getContext, getOverview], async () => answer);
  bus = withLocalPaths(inner, paths);
});
afterEach(() => bus.close());

const text = async (reply: Promise<unknown>): Promise<string> => {
  const got = await reply;
  return got instanceof RawJson ? got.text : JSON.stringify(got);
};

describe('the bus of a device', () => {
  it('tells the folder of the node that is read, and null without one [graph.node.detail-local-path]', async () => {
    for (const end of ['"local_path" : null}', '"local_path": null}', '"local_path":null}\n']) {
      answer = new RawJson(nodeText(mirrored, end));
      const told = JSON.parse(await text(bus.call(getNode, { node_id: mirrored.toUpperCase() }, envelope)));
      expect(told).toEqual({ id: mirrored, description: '"local_path" : null}', edges: [], local_path: PATH });
    }
    answer = new RawJson(new TextEncoder().encode(nodeText(mirrored)));
    expect(JSON.parse(await text(bus.call(getNode, { node_id: mirrored }, envelope)))).toMatchObject({
      local_path: PATH,
    });
    answer = new RawJson(nodeText(other));
    expect(await text(bus.call(getNode, { node_id: other }, envelope))).toBe(nodeText(other));
  });

  it('tells the folder of the node whose context is read, also of a home node that the input does not name', async () => {
    const context = {
      depth: 1,
      estimated_tokens: 10,
      nodes: [],
      node: { id: mirrored, local_path: null },
      details: [],
    };
    for (const reply of [context, new RawJson(JSON.stringify(context))]) {
      answer = reply;
      const told = JSON.parse(await text(bus.call(getContext, {}, envelope)));
      expect(told).toMatchObject({ depth: 1, node: { id: mirrored, local_path: PATH } });
      expect(told.estimated_tokens).toBeGreaterThan(10);
    }
    const without = new RawJson(JSON.stringify({ ...context, node: { id: other, local_path: null } }));
    answer = without;
    expect(await text(bus.call(getContext, { node_id: other }, envelope))).toBe(without.text);
  });

  it('knows nodes with a folder here by name while nobody else can be asked', async () => {
    const unreachable = withLocalPaths({ ...bus, call: () => Promise.reject(away) }, paths);
    const named = (name: string) =>
      unreachable.call(resolveReferences, { references: [{ kind: 'node', text: name, field: 'node_id' }] }, envelope);
    expect(await named('Oven')).toEqual({ ids: [mirrored] });
    await expect(named('Pec')).rejects.toBe(away);
    await expect(unreachable.call(getNode, { node_id: mirrored }, envelope)).rejects.toBe(away);
  });

  it('leaves every other answer and every refusal as it is', async () => {
    answer = new RawJson('{"id":"x","local_path":null}');
    expect(await text(bus.call(getOverview, {}, envelope))).toBe('{"id":"x","local_path":null}');
    expect(bus.status).toBe('ready');
    await inner.close();
    await expect(bus.call(getNode, { node_id: mirrored }, envelope)).rejects.toBeInstanceOf(ServiceError);
  });
});
