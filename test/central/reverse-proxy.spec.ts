import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createNode, getNode, setupRemote, storeFile } from '@workspace-graph/contracts';
import { freePort, startNginx, whyNoNginx } from '@workspace-graph/testing';
import { LiveClient } from '../live/live-client.js';
import { type CentralWorld, ROOT, startWorld, until } from './central-world.js';
import type { RestClient } from './rest-client.js';
import { routeTo } from './two-workstations.js';
import { agentAt, joinedFolder, mirrored, person, startWorkstation, untilConnected } from './workstation.js';

const START_MS = 240_000;
/** The whole of what deployment.md has operators put before a central workspace. */
const DOCUMENTED = /```nginx\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/deployment.md'), 'utf8'))?.[1] ?? '';

/** That configuration with this port and that gateway. What it has of certificates is left out. */
function configOf(port: number, gateway: string): string {
  expect(DOCUMENTED).toContain('listen 443 ssl;');
  expect(DOCUMENTED).toContain('proxy_pass http://127.0.0.1:4010;');
  return DOCUMENTED.replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace('http://127.0.0.1:4010', gateway)
    .replace(/^\s*ssl_.*$/gm, '');
}

const reason = await whyNoNginx();
const describeBehind = reason === null ? describe : describe.skip;

describeBehind('behind nginx as the documentation sets it up', () => {
  let world: CentralWorld;
  let proxy: Awaited<ReturnType<typeof startNginx>>;
  /** The administrator, at the address that everybody uses. */
  let ada: RestClient;
  let nodeId: string;
  beforeAll(async () => {
    const port = await freePort();
    const variables = { SVC_PUBLIC_URL: `http://localhost:${port}`, SVC_TRUST_PROXY: '127.0.0.1' };
    world = await startWorld({ variables, replicas: { gateway: 1, 'graph-svc': 1, 'file-svc': 1 } });
    proxy = await startNginx({ port, http: configOf(port, world.urls[0]) });
    ada = world.ada.at(proxy.url);
    mkdirSync(join(world.central.volume('files'), 'folders', 'team'), { recursive: true });
    await ada.call(setupRemote, { name: 'team', type: 'fs', config: { folder: 'team' } });
    await routeTo(ada, 'team');
    const { id: organization_id } = await ada.call(createNode, { type: 'organization', name: 'Acme' });
    ({ id: nodeId } = await ada.call(createNode, { type: 'project', name: 'Oven', organization_id }));
  }, START_MS);
  afterAll(async () => {
    await proxy?.stop();
    await world?.[Symbol.asyncDispose]();
  });

  it('a workstation joins, keeps its link, and stores files of any size', async () => {
    const folder = await joinedFolder(await person(ada, 'Wanda'));
    try {
      const station = await startWorkstation(folder);
      await untilConnected(station);
      const bytes = randomBytes(3_000_000);
      const path = 'wip/photo.jpg';
      const local_path = join(await mirrored(station.client, nodeId), path);
      writeFileSync(local_path, bytes);
      await station.client.call(storeFile, { node_id: nodeId, local_path });
      const answer = await ada.fetch(`/nodes/${nodeId}/file?path=${path}&raw=true`);
      expect([answer.status, Buffer.from(await answer.arrayBuffer()).equals(bytes)]).toEqual([200, true]);
      // No limit of its own comes before those of the workspace.
      expect(await firstLine(Number(new URL(proxy.url).port), 3_000_000_000)).toBe('HTTP/1.1 100 Continue');
    } finally {
      await folder[Symbol.asyncDispose]();
    }
  }, 120_000);

  it('changes are told over the live channel, and agents call tools', async () => {
    await using live = await LiveClient.open(proxy.url, ada.token);
    await live.ask('watch', { graph: true });
    await using agent = await agentAt(ada, nodeId);
    await agent.call('svc_update_node', { node_id: nodeId, goal: 'More bread' });
    await until('the change is told', () => live.of('graph_changed').length > 0);
    expect((await ada.call(getNode, { node_id: nodeId })).goal).toBe('More bread');
  });
});

/** What a proxy says to the announcement of an upload of so many bytes. */
function firstLine(port: number, length: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const head = ['PUT /files HTTP/1.1', 'Host: localhost', `Content-Length: ${length}`, 'Expect: 100-continue'];
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head.join('\r\n')}\r\n\r\n`));
    socket.once('error', reject);
    socket.once('data', (chunk) => {
      socket.destroy();
      resolve(chunk.toString('latin1').split('\r\n')[0] ?? '');
    });
  });
}
