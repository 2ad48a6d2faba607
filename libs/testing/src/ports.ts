import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below what systems give to whoever asks for any port, and to outgoing connections: there, a port that is free now may
 * be somebody else's before the server that it was meant for listens, and a test would ask a stranger.
 */
const FIRST = 12_000;
const LAST = 32_000;
/** Each worker of a test run has ports of its own, so that two that look at once find different ones. */
const SHARES = 20;
const ATTEMPTS = 200;
const given = new Set<number>();

/**
 * A TCP port of 127.0.0.1 on which nothing listens, and which was not given before.
 * @throws Error when none is found
 */
export async function freePort(): Promise<number> {
  const size = (LAST - FIRST) / SHARES;
  const first = FIRST + (Number(process.env['JEST_WORKER_ID'] ?? 0) % SHARES) * size;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(first, first + size);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`No free port between ${first} and ${first + size} was found in ${ATTEMPTS} attempts`);
}

/** @throws Error `EADDRINUSE` when something listens on the port already */
export function expectFree(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
  });
}

function isFree(port: number): Promise<boolean> {
  return expectFree(port).then(
    () => true,
    () => false,
  );
}
