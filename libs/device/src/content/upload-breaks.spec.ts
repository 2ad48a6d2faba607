import { readdir, readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setInterval as every } from 'node:timers/promises';
import { type FileRoutes, startFileRoutes, temporariesIn, until } from './file-routes.fixture.js';

const STALLED_MS = 1_000;
const CONTENT = 'x'.repeat(100_000);
const FORM_TYPE = 'Content-Type: multipart/form-data; boundary=B\r\nContent-Length: 1000000';
const PART = 'Content-Disposition: form-data; name="file"; filename="broken.bin"\r\n\r\n';

interface Phase {
  readonly method: 'PUT' | 'POST';
  readonly headers: string;
  readonly body: string;
  /** Whether the file is being written by then. */
  readonly isWriting: boolean;
}

const put = (headers: string, body: string): Phase => ({ method: 'PUT', headers, body, isWriting: true });
const post = (body: string, isWriting: boolean): Phase => ({ method: 'POST', headers: FORM_TYPE, body, isWriting });
const PHASES: readonly (readonly [string, Phase])[] = [
  ['after the headers', put('Content-Length: 1000000', '')],
  ['in the middle of the body', put('Content-Length: 1000000', CONTENT)],
  ['in the middle of a chunk', put('Transfer-Encoding: chunked', `40000\r\n${CONTENT}`)],
  ['after the last chunk', put('Transfer-Encoding: chunked', `186a0\r\n${CONTENT}\r\n`)],
  ['after the headers of a form', post('', false)],
  ['in the headers of a part', post('--B\r\nContent-Dispo', false)],
  ['in a field', post('--B\r\nContent-Disposition: form-data; name="section"\r\n\r\nwi', false)],
  ['in the middle of a part', post(`--B\r\n${PART}${CONTENT}`, true)],
  ['after the last part', post(`--B\r\n${PART}${CONTENT}\r\n--B`, true)],
  [
    'in a JSON body',
    { method: 'POST', headers: 'Content-Type: application/json\r\nContent-Length: 99', body: '{', isWriting: false },
  ],
  ['after the end of the form', post(`--B\r\n${PART}${CONTENT}\r\n--B--\r\n`, true)],
];

describe('an upload that does not arrive whole', () => {
  let routes: FileRoutes;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    routes = await startFileRoutes({ bodyTimes: { stalledMs: STALLED_MS } });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    const startMs = performance.now();
    await routes[Symbol.asyncDispose]();
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });

  const send = ({ method, headers, body }: Phase, name = 'broken.bin'): Socket => {
    const base = `/nodes/${routes.nodeId}`;
    const target = method === 'PUT' ? `${base}/file?path=wip/deep/${name}` : `${base}/files`;
    const condition = method === 'PUT' ? 'If-None-Match: *\r\n' : '';
    const socket = connect(routes.edge.port, '127.0.0.1');
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.write(
      `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1:${routes.edge.port}\r\nAuthorization: Bearer ${routes.edge.tokens.write.text}\r\n${condition}${headers}\r\n\r\n${body}`,
    );
    return socket;
  };
  const openConnections = () => {
    const server: Server = routes.edge.app.getHttpServer();
    return new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  };
  const nothingIsLeft = async (): Promise<void> => {
    await until(async () => (await openConnections()) === 0);
    await until(async () => (await temporariesIn(routes.path)).length === 0);
    await until(async () => (await readdir(join(routes.path, 'wip'))).length === 0);
  };

  it.each(PHASES)('leaves nothing when its client goes away %s [files.write.atomic]', async (_name, phase) => {
    const socket = send(phase);
    await until(async () => (await openConnections()) === 1);
    if (phase.isWriting) await until(async () => (await temporariesIn(routes.path)).length === 1);
    socket.destroy();

    await nothingIsLeft();
    expect(routes.edge.log.filter((line) => line.includes('unexpectedly'))).toEqual([]);
  });

  it('ends and leaves nothing when its client stands still, wherever it does', async () => {
    const startMs = performance.now();
    const waiting = PHASES.map(([, phase], index) => send(phase, `stalled-${index}.bin`));
    waiting.push(
      send({ method: 'PUT', headers: 'If-Match: x\r\nContent-Length: 99', body: 'refused', isWriting: false }),
    );
    const writing = PHASES.filter(([, { isWriting }]) => isWriting).length;
    await until(async () => (await temporariesIn(routes.path)).length === writing);
    for (const socket of waiting) socket.resume();

    await nothingIsLeft();
    expect(routes.edge.log.filter((line) => line.includes('unexpectedly'))).toEqual([]);
    expect(performance.now() - startMs).toBeGreaterThan(STALLED_MS * 0.9);
  });

  it('may take longer than the time for a standstill, as long as bytes arrive', async () => {
    const pieces = 25;
    const socket = send(put(`Connection: close\r\nContent-Length: ${pieces}`, ''), 'slow.bin');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    let sent = 0;
    for await (const _ of every(STALLED_MS / 10)) {
      socket.write('s');
      sent += 1;
      if (sent === pieces) break;
    }
    await closed;

    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 201 /);
    expect(await readFile(join(routes.path, 'wip/deep/slow.bin'), 'utf8')).toBe('s'.repeat(pieces));
  });
});
