import { createHash } from 'node:crypto';
import { createFile, deleteFile, moveFile, RawJson } from '@workspace-graph/contracts';
import { type FileRoutes, startFileRoutes } from './file-routes.fixture.js';

const MARK = 'a mark that stands in the content alone';
const REPEATED = Buffer.from(MARK.repeat(2_000));
/** The mark as text and in the usual ways to write bytes. */
const TRACES = [
  MARK,
  MARK.slice(0, 30),
  Buffer.from(MARK).toString('hex'),
  Buffer.from(MARK.slice(0, 30)).toString('base64'),
];

describe('the bytes of files', () => {
  let routes: FileRoutes;
  const said: string[] = [];
  beforeAll(async () => {
    routes = await startFileRoutes();
    for (const bus of [routes.edge.bus, routes.device.parts.bus]) listenTo(bus);
  });
  afterAll(() => routes[Symbol.asyncDispose]());

  /** Writes down every input and every reply of a bus. */
  function listenTo(bus: FileRoutes['edge']['bus'] | FileRoutes['device']['parts']['bus']): void {
    const call = bus.call.bind(bus);
    bus.call = (async (operation, input, ...more) => {
      const reply: unknown = await call(operation, input, ...more);
      const text = reply instanceof RawJson ? reply.text : JSON.stringify(reply);
      said.push(operation.name, JSON.stringify(input), text);
      return reply;
    }) as typeof bus.call;
  }

  it('travel over HTTP, and neither up- nor downloads nor changes of files put any on the bus [bus.no-bytes]', async () => {
    const { edge, device, nodeId } = routes;
    const address = `/nodes/${nodeId}/file?path=wip%2Fmarked.txt`;
    const put = (headers: Record<string, string>) =>
      edge.fetch(address, { method: 'PUT', token: edge.tokens.write, headers, body: REPEATED });
    const sha256 = createHash('sha256').update(REPEATED).digest('hex');
    expect((await put({ 'if-none-match': '*' })).status).toBe(201);
    expect((await put({ 'if-match': `"${sha256}"` })).status).toBe(200);
    const form = new FormData();
    form.append('file', new Blob([REPEATED]), 'form.txt');
    const uploaded = await edge.fetch(`/nodes/${nodeId}/files`, {
      method: 'POST',
      token: edge.tokens.write,
      body: form,
    });
    expect(uploaded.status).toBe(201);
    const got = await edge.fetch(address, { token: edge.tokens.read });
    expect(await got.text()).toBe(REPEATED.toString());

    const made = await device.call(createFile, { node_id: nodeId, filename: 'made.txt', content: MARK });
    await device.call(moveFile, { file_id: made.id, new_section: 'outputs', confirmed: true });
    await device.call(deleteFile, { file_id: made.id, confirmed: true });

    expect(said).toEqual(expect.arrayContaining(['find_places', 'apply_file_changes']));
    expect(said.join('\n')).toContain(sha256);
    expect(said.filter((text) => TRACES.some((trace) => text.includes(trace)))).toEqual([]);
  });
});
