import { connect, type Socket } from 'node:net';
import { setInterval as every } from 'node:timers/promises';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import { ANSWER, NODE } from '../../test/edge/example-edge.js';
import type { BodyTimes } from './edge-settings.js';

const SHORT_MS = 400;
const LONG_MS = 600_000;
const PACE_MS = 20;
const BODY_BYTES = 200_000;

interface Way {
  readonly what: string;
  readonly target: string;
  readonly times: Partial<BodyTimes>;
}

const WAYS: readonly Way[] = [
  { what: 'as a whole', target: 'POST /nodes', times: { wholeMs: SHORT_MS, streamedMs: LONG_MS } },
  { what: 'as a stream', target: 'POST /import', times: { wholeMs: LONG_MS, streamedMs: SHORT_MS } },
];

describe.each(WAYS)('a body that is read $what', ({ target, times }) => {
  let edge: EdgeHarness;
  let carriedOut: string[];
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    edge = await startEdge({
      settings: { bodyTimes: { stalledMs: LONG_MS, ...times } },
      dispatch: (operation) => {
        carriedOut.push(operation.name);
        return ANSWER;
      },
    });
  });
  beforeEach(() => {
    carriedOut = [];
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await edge.close();
  });

  /** Sends a head and then so many bytes at a time. Answers what was received until the connection ended. */
  async function trickle(headers: string, pieceBytes: number): Promise<string> {
    const socket = connect(edge.port, '127.0.0.1');
    sockets.add(socket);
    const received: Buffer[] = [];
    socket.on('error', () => undefined).on('data', (chunk) => received.push(chunk));
    const host = `Host: 127.0.0.1:${edge.port}\r\nAuthorization: Bearer ${edge.tokens.manage.text}`;
    socket.write(`${target} HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`);
    const chunk = headers.includes('chunked')
      ? `${pieceBytes.toString(16)}\r\n${' '.repeat(pieceBytes)}\r\n`
      : ' '.repeat(pieceBytes);
    for await (const _ of every(PACE_MS)) {
      if (socket.closed) break;
      if (socket.writable) socket.write(chunk);
    }
    return Buffer.concat(received).toString();
  }

  it.each([`Content-Length: ${BODY_BYTES}`, 'Transfer-Encoding: chunked'])(
    'is refused when it trickles for too long, while others are answered [edge.body-time]: %s',
    async (headers) => {
      const startMs = performance.now();
      const answer = trickle(headers, 1);
      const other = await edge.fetch(NODE, { token: edge.tokens.read });

      expect(await answer).toMatch(/^HTTP\/1\.1 408 .*\r\nconnection: close\r\n.*"code":"REQUEST_TIMEOUT".*in time/s);
      expect(performance.now() - startMs).toBeGreaterThanOrEqual(SHORT_MS);
      expect(other.status).toBe(200);
      expect(carriedOut).toEqual(['get_node']);
      expect(edge.log.filter((line) => line.includes('unexpectedly'))).toEqual([]);
    },
  );
});
