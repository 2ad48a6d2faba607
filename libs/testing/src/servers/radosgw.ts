import { execFile } from 'node:child_process';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../ports.js';
import { makeFolder } from '../temp.js';
import { endChild, type ServerChild, startChild } from './child.js';
import { startLocalServer } from './local-server.js';
import { programFor } from './program.js';
import type { TestServer } from './server.js';
import { answersWith } from './tcp-probe.js';

/** A private object storage that speaks S3, and how to log in. */
export interface ObjectServer extends TestServer {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  makeBucket(name: string): Promise<void>;
}

interface Cluster {
  /** Where its programs are. */
  readonly programs: string;
  readonly libraries: string;
  /** Where its data, logs and configuration are. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

const run = promisify(execFile);
const STORAGE_BYTES = 6 * 1_024 ** 3;

/** Why no object storage can be started on this machine; null where it can. */
export async function whyNoRadosgw(): Promise<string | null> {
  const found = await programFor('radosgw');
  return 'missing' in found ? found.missing : null;
}

/** Everything is kept in memory, once. */
function configOf(cluster: Cluster, { fsid, monitorPort }: { fsid: string; monitorPort: number }): string {
  const { folder, libraries } = cluster;
  return `[global]
fsid = ${fsid}
mon host = v2:127.0.0.1:${monitorPort}
mon initial members = a
keyring = ${folder}/keyring
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = ${STORAGE_BYTES}
osd class dir = ${libraries}/rados-classes
erasure code dir = ${libraries}/ceph/erasure-code
plugin dir = ${libraries}/ceph
run dir = ${folder}
admin socket =
log file = ${folder}/$name.log
mon cluster log file = ${folder}/cluster.log
mon data = ${folder}/mon
osd data = ${folder}/osd
paxos propose interval = 0.05
paxos min wait = 0.01
mon allow pool size one = true
mon max pg per osd = 1000
rgw data = ${folder}
`;
}

function call(cluster: Cluster, program: string, ...args: string[]): Promise<unknown> {
  const { programs, folder, env } = cluster;
  return run(join(programs, program), args, { cwd: folder, env });
}

async function prepare(cluster: Cluster): Promise<void> {
  const { folder } = cluster;
  for (const name of ['mon', 'osd']) mkdirSync(join(folder, name));
  const [fsid, monitorPort] = [randomUUID(), await freePort()];
  writeFileSync(join(folder, 'ceph.conf'), configOf(cluster, { fsid, monitorPort }));
  const key = (name: string, ...more: string[]): Promise<unknown> =>
    call(cluster, 'ceph-authtool', 'keyring', '--gen-key', '-n', name, '--cap', 'mon', 'allow *', ...more);
  await call(cluster, 'ceph-authtool', '-C', 'keyring');
  await key('mon.');
  for (const name of ['osd.0', 'client.rgw']) await key(name, '--cap', 'osd', 'allow *');
  const address = ['--addv', 'a', `[v2:127.0.0.1:${monitorPort}/0]`, '--set-min-mon-release', '16'];
  await call(cluster, 'monmaptool', '--create', '--fsid', fsid, ...address, 'monmap');
  await call(cluster, 'osdmaptool', '--createsimple', '1', '--with-default-pool', 'osdmap', '-c', 'ceph.conf');
  const maps = ['--monmap', 'monmap', '--osdmap', 'osdmap', '--keyring', 'keyring'];
  await call(cluster, 'ceph-mon', '-c', 'ceph.conf', '--mkfs', '-i', 'a', ...maps);
  await call(
    cluster,
    'ceph-osd',
    '-c',
    'ceph.conf',
    '-i',
    '0',
    '--mkfs',
    '--no-mon-config',
    '--osd-uuid',
    randomUUID(),
  );
}

function daemon({ programs, folder, env }: Cluster, program: string, ...args: string[]): ServerChild {
  const logFile = join(folder, `${program}.out`);
  const binary = join(programs, program);
  return startChild({ binary, args: ['-c', 'ceph.conf', ...args, '-f'], logFile, env, cwd: folder });
}

/** Signed in the old way, which takes a few lines. */
async function makeBucket(
  url: string,
  { accessKeyId, secretAccessKey }: Pick<ObjectServer, 'accessKeyId' | 'secretAccessKey'>,
): Promise<void> {
  const date = new Date().toUTCString();
  const told = createHmac('sha1', secretAccessKey).update(`PUT\n\n\n${date}\n${new URL(url).pathname}`);
  const headers = { date, authorization: `AWS ${accessKeyId}:${told.digest('base64')}` };
  const { status } = await fetch(url, { method: 'PUT', headers });
  if (status !== 200) throw new Error(`No bucket was made: ${status}`);
}

/**
 * Starts a private Ceph with one monitor and one store in memory, and its S3 gateway on a free loopback port.
 * @throws Error saying why there is none, or with the end of its log
 */
export async function startRadosgw(): Promise<ObjectServer> {
  const found = await programFor('radosgw');
  if ('missing' in found) throw new Error(found.missing);
  const folder = makeFolder();
  const programs = dirname(found.program);
  const libraries = join(programs, '..', 'lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`);
  const path = [join(libraries, 'ceph'), process.env['LD_LIBRARY_PATH'] ?? ''].join(':');
  const env = { ...process.env, HOME: folder, LD_LIBRARY_PATH: path };
  const cluster: Cluster = { programs, libraries, folder, env };
  const children: ServerChild[] = [];
  const end = async (): Promise<void> => {
    for (const child of children.reverse()) await endChild(child, 'SIGTERM', 500);
  };
  try {
    await prepare(cluster);
    children.push(daemon(cluster, 'ceph-mon', '-i', 'a'), daemon(cluster, 'ceph-osd', '-i', '0'));
    const server = await startLocalServer({
      name: 'radosgw',
      folder,
      urlOf: (port) => `http://127.0.0.1:${port}`,
      launch: (port) =>
        daemon(cluster, 'radosgw', '-n', 'client.rgw', `--rgw-frontends=beast endpoint=127.0.0.1:${port}`),
      probe: (port) =>
        answersWith(port, 'HTTP/1.1 200', 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
      stopSignal: 'SIGTERM',
      readyWithinMs: 180_000,
      pauseMs: 100,
    });
    const login = { accessKeyId: randomBytes(10).toString('hex'), secretAccessKey: randomBytes(20).toString('hex') };
    const keys = ['--access-key', login.accessKeyId, '--secret', login.secretAccessKey];
    const who = ['-c', 'ceph.conf', '-n', 'client.rgw', 'user', 'create', '--uid', 'ada', '--display-name', 'Ada'];
    await call(cluster, 'radosgw-admin', ...who, ...keys);
    const stop = server.stop.bind(server);
    return Object.assign(server, login, {
      makeBucket: (name: string) => makeBucket(`${server.url}/${name}`, login),
      stop: async () => {
        await server.kill('SIGKILL');
        await end();
        await stop();
      },
    });
  } catch (error) {
    await end();
    throw error;
  }
}
