import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SOCKET_PATH } from '@workspace-graph/contracts';
import { WebSocket, WebSocketServer } from 'ws';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import { RelayModule } from './relay.module.js';

let centre: WebSocketServer;
let edge: EdgeHarness;
beforeAll(async () => {
  centre = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
  await once(centre, 'listening');
  const url = `ws://127.0.0.1:${(centre.address() as AddressInfo).port}`;
  const relay = RelayModule.forRoot({ url, credential: () => 'svc_dev_x', pingMs: 500 });
  edge = await startEdge({ imports: [relay] });
});
afterAll(async () => {
  await edge.close();
  for (const client of centre.clients) client.terminate();
  await new Promise((resolve) => centre.close(resolve));
});

it('a workstation asks the centre again and again whether it is there, and leaves one that does not answer [ws.ping]', async () => {
  const accepted = once(centre, 'connection');
  const client = new WebSocket(`${edge.url.replace('http', 'ws')}${SOCKET_PATH}`, {
    headers: { authorization: `Bearer ${edge.tokens.read.text}` },
  });
  const closed = once(client, 'close');
  const [there] = (await accepted) as [WebSocket];
  let pings = 0;
  there.on('ping', () => {
    pings += 1;
  });
  await closed;
  expect(pings).toBeGreaterThan(0);
});
