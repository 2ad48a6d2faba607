import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../temp.js';
import type { DavServer } from './apache.js';
import { startChild } from './child.js';
import { startLocalServer } from './local-server.js';
import { programFor } from './program.js';
import { unprivilegedUser } from './server-user.js';
import { answersWith } from './tcp-probe.js';

/** Why rclone cannot be started on this machine; null where it can. */
export async function whyNoRclone(): Promise<string | null> {
  const found = await programFor('rclone');
  return 'missing' in found ? found.missing : null;
}

/** The program itself. @throws Error saying why there is none */
export async function rcloneProgram(): Promise<string> {
  const found = await programFor('rclone');
  if ('missing' in found) throw new Error(found.missing);
  return found.program;
}

/**
 * Starts a private WebDAV server on a free loopback port that takes no notice of conditions, as many do.
 * @throws Error saying why there is none, or with the end of its log
 */
export async function startRcloneDav(): Promise<DavServer> {
  const binary = await rcloneProgram();
  const folder = makeFolder();
  const files = join(folder, 'files');
  mkdirSync(files);
  const owner = unprivilegedUser();
  if (owner) chownSync(files, owner.uid, owner.gid);
  const [username, password] = ['ada', randomBytes(12).toString('hex')];
  const login = ['--user', username, '--pass', password];
  // Nothing is kept in mind: what another program saves is seen at once.
  const fresh = ['--copy-links', '--dir-cache-time', '0', '--poll-interval', '0', '--vfs-cache-mode', 'off'];
  const args = ['serve', 'webdav', files, '--config', join(folder, 'none.conf'), ...login, ...fresh];
  const server = await startLocalServer({
    name: 'rclone',
    folder,
    urlOf: (port) => `http://127.0.0.1:${port}`,
    launch: (port) =>
      startChild({
        binary,
        args: [...args, '--addr', `127.0.0.1:${port}`],
        logFile: join(folder, 'rclone.log'),
        user: owner,
      }),
    probe: (port) => answersWith(port, 'HTTP/1.', 'GET / HTTP/1.0\r\n\r\n'),
    stopSignal: 'SIGTERM',
    readyWithinMs: 60_000,
    pauseMs: 50,
  });
  const forbid = (at: string, isForbidden: boolean): void => chmodSync(at, isForbidden ? 0o555 : 0o755);
  return Object.assign(server, { folder: files, username, password, owner, forbid });
}
