import { readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { databaseName } from './cluster.js';
import { withAdvice } from './failures.js';
import { makeServerFolder, type Places } from './places.js';

/** Where the server listens: on a socket in a closed folder, or where that cannot be, on loopback. */
export interface Address {
  readonly kind: 'socket' | 'loopback';
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly url: (password: string) => string;
}

/** The number is only part of the socket's name. */
const socketPort = 5432;
const longestSocketPath = process.platform === 'linux' ? 107 : 103;

function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    server.close(() =>
      typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port')),
    );
  });
  return promise;
}

/** Only called while no server runs here: a lock that names a zombie, or a stranger's number, would stop the next one. */
function removeOldSockets(runFolder: string): void {
  for (const name of readdirSync(runFolder).filter((file) => file.startsWith('.s.PGSQL.')))
    rmSync(join(runFolder, name), { force: true });
}

function socketAddress(places: Places): Address {
  makeServerFolder(places.runFolder, places.user);
  removeOldSockets(places.runFolder);
  return {
    kind: 'socket',
    port: socketPort,
    settings: { listen_addresses: '', unix_socket_directories: places.runFolder, unix_socket_permissions: '0700' },
    url: (password) =>
      `postgresql://${databaseName}:${password}@localhost:${socketPort}/${databaseName}?host=${encodeURIComponent(places.runFolder)}`,
  };
}

function loopbackAddress(port: number): Address {
  return {
    kind: 'loopback',
    port,
    settings: { listen_addresses: '127.0.0.1', unix_socket_directories: '' },
    url: (password) => `postgresql://${databaseName}:${password}@127.0.0.1:${port}/${databaseName}`,
  };
}

/** A port asked for means loopback; else a socket, unless its path would be longer than the system takes. */
export async function chooseAddress(places: Places, port: number | undefined): Promise<Address> {
  if (port !== undefined) return loopbackAddress(port);
  const path = join(places.runFolder, `.s.PGSQL.${socketPort}`);
  // A comma parts two folders in the server's setting.
  const fits = Buffer.byteLength(path) <= longestSocketPath && !path.includes(',');
  if (process.platform === 'win32' || !fits) return loopbackAddress(await freePort());
  return withAdvice(places.folder, () => socketAddress(places));
}
