import { type AddressInfo, createServer } from 'node:net';

function bindFor(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** A TCP port on 127.0.0.1 that was free a moment ago. Another process may take it: callers that can, retry. */
export function freePort(): Promise<number> {
  return bindFor(0);
}

/** @throws Error `EADDRINUSE` when something listens on the port already */
export async function expectFree(port: number): Promise<void> {
  await bindFor(port);
}
