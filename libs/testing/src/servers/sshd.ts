import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from '../temp.js';
import { startChild } from './child.js';
import { startLocalServer } from './local-server.js';
import { programFor } from './program.js';
import type { TestServer } from './server.js';
import { type ServerUser, unprivilegedUser } from './server-user.js';
import { answersWith } from './tcp-probe.js';

const CURVE = 'nistp256';
const KEY_TYPE = `ecdsa-sha2-${CURVE}`;

/** A private OpenSSH server, and how to log in. */
export interface SshServer extends TestServer {
  /** Name of the only user who can log in. */
  readonly user: string;
  /** Who owns what is written; undefined where that is who runs the tests. */
  readonly owner: ServerUser | undefined;
  /** PEM. */
  readonly privateKey: string;
  /** `SHA256:…` of the server's key. */
  readonly hostKey: string;
}

interface KeyPair {
  readonly privateKey: string;
  /** As the protocol writes it. */
  readonly publicKey: Buffer;
}

/** Why no OpenSSH server can be started on this machine; null where it can. */
export async function whyNoSshd(): Promise<string | null> {
  const found = await programFor('sshd');
  return 'missing' in found ? found.missing : null;
}

function wire(...parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(part));
      return [length, Buffer.from(part)];
    }),
  );
}

function makeKey(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  const pem = privateKey.export({ format: 'pem', type: 'sec1' }).toString();
  return { privateKey: pem, publicKey: wire(KEY_TYPE, CURVE, point) };
}

function nameOf(user: ServerUser | undefined): string {
  if (user === undefined) return userInfo().username;
  return execFileSync('id', ['-un', String(user.uid)], { encoding: 'utf8' }).trim();
}

/** Newer servers keep the part that serves a connection in a program of its own. */
function sessionProgram(program: string): string[] {
  const beside = join(dirname(program), '..', 'lib', 'openssh', 'sshd-session');
  return existsSync(beside) ? [`SshdSessionPath ${beside}`] : [];
}

function writeConfig(folder: string, program: string, hostKey: string): string {
  const lines = [
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'AuthenticationMethods publickey',
    'StrictModes no',
    'PidFile none',
    'MaxStartups 100',
    'Subsystem sftp internal-sftp',
    'ForceCommand internal-sftp',
    ...sessionProgram(program),
  ];
  const file = join(folder, 'sshd_config');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

/** OpenSSH refuses a key that others may read, so its owner is asked to be the server's user. */
function writeHostKey(folder: string, key: KeyPair, user: ServerUser | undefined): string {
  const file = join(folder, 'host_key');
  writeFileSync(file, key.privateKey, { mode: 0o600 });
  if (user !== undefined) execFileSync('chown', [`${user.uid}:${user.gid}`, file]);
  return file;
}

/**
 * Starts a private OpenSSH server for SFTP on a free loopback port, with a key to log in with. It never runs as root:
 * root's server wants a user and a folder of its own on the system, an ordinary user's needs neither, and serves only
 * that user.
 * @throws Error saying why there is none, or with the end of its log
 */
export async function startSshd(): Promise<SshServer> {
  const found = await programFor('sshd');
  if ('missing' in found) throw new Error(found.missing);
  const folder = makeFolder();
  const owner = unprivilegedUser();
  const [host, login] = [makeKey(), makeKey()];
  writeFileSync(join(folder, 'authorized'), `${KEY_TYPE} ${login.publicKey.toString('base64')}\n`);
  const config = writeConfig(folder, found.program, writeHostKey(folder, host, owner));
  const server = await launch(folder, [found.program, '-D', '-e', '-f', config], owner);
  const hostKey = `SHA256:${createHash('sha256').update(host.publicKey).digest('base64').replace(/=+$/, '')}`;
  const told = { user: nameOf(owner), owner, privateKey: login.privateKey, hostKey };
  return Object.assign(server, told);
}

function launch(folder: string, command: readonly string[], user: ServerUser | undefined): Promise<TestServer> {
  const [binary = '', ...args] = command;
  const logFile = join(folder, 'sshd.log');
  return startLocalServer({
    name: 'sshd',
    folder,
    urlOf: (port) => `sftp://127.0.0.1:${port}`,
    launch: (port) => startChild({ binary, args: [...args, '-o', `ListenAddress=127.0.0.1:${port}`], logFile, user }),
    probe: (port) => answersWith(port, 'SSH-2.0-'),
    stopSignal: 'SIGTERM',
    readyWithinMs: 60_000,
    pauseMs: 20,
  });
}
