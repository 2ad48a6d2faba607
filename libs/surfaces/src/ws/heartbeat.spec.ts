import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { Heartbeat } from './heartbeat.js';

let server: WebSocketServer;
let heartbeat: Heartbeat;
beforeEach(async () => {
  heartbeat = new Heartbeat();
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
});
afterEach(async () => {
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => server.close(resolve));
});

/** The watched end of a socket, and the other one. */
async function connected({ autoPong = true } = {}) {
  const accepted = once(server, 'connection');
  const there = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { autoPong });
  const [here] = (await accepted) as [WebSocket];
  await once(there, 'open');
  heartbeat.add(here);
  return { here, there };
}

it('cuts off who does not answer until the next time, and keeps who does', async () => {
  const [{ here: kept }, { there: silent }] = [await connected(), await connected({ autoPong: false })];
  const cut = once(silent, 'close');
  for (let beats = 0; beats < 3; beats++) {
    const answered = once(kept, 'pong');
    heartbeat.beat();
    await answered;
  }
  await cut;
  expect(kept.readyState).toBe(WebSocket.OPEN);
});

it('takes whatever is sent for an answer', async () => {
  const { here, there } = await connected({ autoPong: false });
  for (let beats = 0; beats < 3; beats++) {
    heartbeat.beat();
    const heard = once(here, 'message');
    there.send('Here');
    await heard;
  }
  expect(here.readyState).toBe(WebSocket.OPEN);
});

it('asks one that is not read only when it is read again, and gives it all the time to answer then', async () => {
  const { here, there } = await connected();
  heartbeat.beat();
  here.pause();
  for (let beats = 0; beats < 3; beats++) heartbeat.beat();
  here.resume();
  const answered = once(here, 'pong');
  heartbeat.beat();
  await answered;
  expect(here.readyState).toBe(WebSocket.OPEN);
  // From here on it answers nothing.
  there.pause();
  const closed = once(here, 'close');
  for (let beats = 0; beats < 2; beats++) heartbeat.beat();
  await closed;
  there.terminate();
});
