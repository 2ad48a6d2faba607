import { createHash, randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../temp.js';
import { startChild } from './child.js';
import { startLocalServer } from './local-server.js';
import { programFor } from './program.js';
import type { TestServer } from './server.js';
import { type ServerUser, unprivilegedUser } from './server-user.js';
import { answersWith } from './tcp-probe.js';

/** A private WebDAV server, and how to log in. */
export interface DavServer extends TestServer {
  /** What it serves; what lies in it must be its user's. */
  readonly folder: string;
  readonly username: string;
  readonly password: string;
  /** Who owns what is written; undefined where that is who runs the tests. */
  readonly owner: ServerUser | undefined;
  /** Lets nobody change anything in a folder, or everybody again. */
  forbid(folder: string, isForbidden: boolean): void;
}

const MODULES = ['authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_basic', 'dav', 'dav_fs'];

/** Why no Apache can be started on this machine; null where it can. */
export async function whyNoApache(): Promise<string | null> {
  const found = await programFor('apache2');
  return 'missing' in found ? found.missing : null;
}

function modulesOf(program: string): string {
  const folders = [join(dirname(program), '..', 'lib', 'apache2', 'modules'), '/usr/lib/apache2/modules'];
  const found = folders.find((folder) => existsSync(join(folder, 'mod_dav_fs.so')));
  if (found === undefined) throw new Error(`${program} has no module for WebDAV`);
  return found;
}

interface Placed {
  readonly folder: string;
  readonly modules: string;
  readonly port: number;
}

function configOf({ folder, modules, port }: Placed): string {
  const loads = ['mpm_event', ...MODULES].map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`);
  return `${loads.join('\n')}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${folder}/own/pid
DefaultRuntimeDir ${folder}/own
ErrorLog ${folder}/own/log
LimitRequestBody 0
DavLockDB ${folder}/own/locks
DocumentRoot ${folder}/files
<Directory ${folder}/files>
  AuthType Basic
  AuthName files
  AuthUserFile ${folder}/users
  Require valid-user
  Dav On
  Options FollowSymLinks
  AllowOverride AuthConfig
</Directory>
`;
}

/** Apache answers for a folder that it may not write to as for a broken disk, so it is told who may. */
function forbid(folder: string, isForbidden: boolean): void {
  const file = join(folder, '.htaccess');
  if (!isForbidden) rmSync(file);
  else writeFileSync(file, '<LimitExcept GET HEAD PROPFIND>\nRequire all denied\n</LimitExcept>\n');
}

/**
 * Starts a private Apache with mod_dav on a free loopback port.
 * @throws Error saying why there is none, or with the end of its log
 */
export async function startApache(): Promise<DavServer> {
  const found = await programFor('apache2');
  if ('missing' in found) throw new Error(found.missing);
  const { program } = found;
  const folder = makeFolder();
  const owner = unprivilegedUser();
  const [username, password] = ['ada', randomBytes(12).toString('hex')];
  writeFileSync(join(folder, 'users'), `${username}:{SHA}${createHash('sha1').update(password).digest('base64')}\n`);
  for (const name of ['files', 'own']) {
    mkdirSync(join(folder, name));
    if (owner) chownSync(join(folder, name), owner.uid, owner.gid);
  }
  const modules = modulesOf(program);
  const logFile = join(folder, 'apache.log');
  const server = await startLocalServer({
    name: 'Apache',
    folder,
    urlOf: (port) => `http://127.0.0.1:${port}`,
    launch: (port) => {
      const config = join(folder, 'httpd.conf');
      writeFileSync(config, configOf({ folder, modules, port }));
      return startChild({ binary: program, args: ['-f', config, '-X'], logFile, user: owner });
    },
    probe: (port) => answersWith(port, 'HTTP/1.1 ', 'GET / HTTP/1.0\r\n\r\n'),
    stopSignal: 'SIGTERM',
    readyWithinMs: 60_000,
    pauseMs: 20,
  });
  return Object.assign(server, { folder: join(folder, 'files'), username, password, owner, forbid });
}
