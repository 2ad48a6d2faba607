import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from './binaries.js';

export type DebianServer =
  | 'nats-server'
  | 'redis-server'
  | 'sshd'
  | 'apache2'
  | 'nginx'
  | 'rclone'
  | 'radosgw'
  | 'dbus-daemon'
  | 'gnome-keyring-daemon';

const run = promisify(execFile);

/** The packages to unpack, and where the program lies in them. Further libraries are asked of the package index. */
const servers: Record<DebianServer, { packages: string[]; program: string; binary: string }> = {
  'nats-server': { packages: ['nats-server'], program: 'usr/sbin/nats-server', binary: 'nats-server' },
  // Redis is one binary that acts by the name it is called by; the package with the server's own name holds a link.
  'redis-server': { packages: ['redis-tools'], program: 'usr/bin/redis-server', binary: 'redis-check-rdb' },
  sshd: { packages: ['openssh-server'], program: 'usr/sbin/sshd', binary: 'sshd' },
  apache2: { packages: ['apache2-bin'], program: 'usr/sbin/apache2', binary: 'apache2' },
  nginx: { packages: ['nginx'], program: 'usr/sbin/nginx', binary: 'nginx' },
  radosgw: {
    packages: ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph-base', 'ceph-common'],
    program: 'usr/bin/radosgw',
    binary: 'radosgw',
  },
  'dbus-daemon': { packages: ['dbus-daemon'], program: 'usr/bin/dbus-daemon', binary: 'dbus-daemon' },
  'gnome-keyring-daemon': {
    packages: ['gnome-keyring'],
    program: 'usr/bin/gnome-keyring-daemon',
    binary: 'gnome-keyring-daemon',
  },
  rclone: { packages: ['rclone'], program: 'usr/bin/rclone', binary: 'rclone' },
};

/** Root's own cache is closed to the users that servers run as. */
function cacheFolder(): string {
  if (process.getuid?.() === 0) return '/var/cache/workspace-graph/servers';
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'workspace-graph', 'servers');
}

/** Libraries (`lib…`) that the packages depend on, and those that these depend on: a minimal system lacks some of them. */
async function libraryPackages(packages: string[]): Promise<string[]> {
  const found = new Set<string>();
  for (let asked = packages; asked.length > 0; ) {
    const { stdout } = await run('apt-cache', ['depends', '--important', ...asked]);
    const names = stdout.split('\n').flatMap((line) => /^\s+Depends: (lib\S+)$/.exec(line)?.[1] ?? []);
    asked = [...new Set(names)].filter((name) => name !== 'libc6' && !found.has(name));
    for (const name of asked) found.add(name);
  }
  return [...found];
}

async function unpack(server: DebianServer, target: string): Promise<void> {
  const { packages, program, binary } = servers[server];
  const wanted = [...packages, ...(await libraryPackages(packages))];
  await run('apt-get', ['download', '-o', 'APT::Sandbox::User=root', ...wanted], { cwd: target });
  for (const file of readdirSync(target).filter((name) => name.endsWith('.deb'))) {
    await run('dpkg-deb', ['-x', join(target, file), target]);
    rmSync(join(target, file));
  }
  if (!existsSync(join(target, program))) symlinkSync(binary, join(target, program));
}

/** Unpacked beside its place and renamed into it, so that two runs at once never see half of it. */
async function fetchInto(server: DebianServer, folder: string): Promise<void> {
  mkdirSync(cacheFolder(), { recursive: true });
  const draft = mkdtempSync(`${folder}.`);
  try {
    await unpack(server, draft);
    chmodSync(draft, 0o755);
    renameSync(draft, folder);
  } catch (error) {
    // Another run was first.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function useLibraries(folder: string): void {
  const places = [join(folder, 'usr', 'lib'), join(folder, 'lib')].filter((place) => existsSync(place));
  const folders = places.flatMap((place) =>
    readdirSync(place).flatMap((name) => (name.endsWith('-linux-gnu') ? join(place, name) : [])),
  );
  const known = process.env['LD_LIBRARY_PATH']?.split(':') ?? [];
  process.env['LD_LIBRARY_PATH'] = [...new Set([...folders, ...known])].join(':');
}

/**
 * On Debian and its kin, downloads the server's package without installing it and answers the program's path.
 * @returns undefined on any other system
 * @throws Error of `apt-get` when the package cannot be downloaded
 */
export async function findDebianServer(server: DebianServer): Promise<string | undefined> {
  if (findOnPath('apt-get') === undefined || findOnPath('dpkg-deb') === undefined) return undefined;
  const folder = join(cacheFolder(), `${server}-${process.arch}`);
  if (!existsSync(folder)) await fetchInto(server, folder);
  useLibraries(folder);
  return join(folder, servers[server].program);
}
