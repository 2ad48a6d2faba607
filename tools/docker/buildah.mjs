import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from '@workspace-graph/testing';
import { findNpm } from '../bootstrap/node-runtime.mjs';

const run = promisify(execFile);
const PROGRAMS = ['buildah', 'debootstrap', 'unshare', 'setpriv'];
const OUTPUT_BYTES = 64 * 1_024 * 1_024;
/** What a build sees of this machine, and no image keeps. */
const CERTIFICATES = '/run/machine-certificates.pem';

/** Why this machine cannot build images; undefined where it can. */
export function whyNoImages() {
  if (process.platform !== 'linux') return 'images without Docker need Linux';
  const missing = PROGRAMS.filter((name) => findOnPath(name) === undefined);
  if (missing.length > 0)
    return `this machine has no ${missing.join(', no ')}: on Debian, apt-get install buildah debootstrap`;
  return process.getuid() === 0 ? undefined : 'images without Docker need root';
}

/**
 * Builds images from the Dockerfile with Debian's buildah, in a store of its own, on a base of Debian and the Node that
 * runs this; no registry of images is asked.
 */
export class Buildah {
  /** @param {{ root: string, say: (line: string) => void }} options */
  constructor({ root, say }) {
    Object.assign(this, { root, say });
    this.folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'workspace-graph', 'images');
    this.baseName = `localhost/workspace-graph-node:${process.versions.node}`;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    // An earlier run that was killed has left its containers; the store is ours alone.
    this.now('rm', '--all');
  }

  /** Forgets what was built before. */
  clear() {
    this.now('rmi', '--all', '--force');
  }

  /** Makes the base unless it is there. */
  async base() {
    const there = this.now('images', '--format', '{{.Name}}:{{.Tag}}').split('\n').includes(this.baseName);
    if (!there) await this.timed('base of Debian 12 and Node', () => this.makeBase());
  }

  /** Builds the image of a service. Answers its name. */
  async build(service) {
    const name = `localhost/workspace-graph-${service}:built`;
    const settings = ['--isolation', 'chroot', '--layers', '--pull-never', '--network', 'host', ...this.machine()];
    const parts = [
      '--build-arg',
      `NODE_IMAGE=${this.baseName}`,
      '--build-arg',
      `SERVICE=${service}`,
      '--tag',
      name,
      this.root,
    ];
    await this.timed(`${service} from the Dockerfile`, () => this.do('bud', ...settings, ...parts));
    return name;
  }

  /** User, work folder, environment and command of an image. */
  settingsOf(image) {
    const { config } = JSON.parse(this.now('inspect', '--type', 'image', image)).OCIv1;
    return { user: config.User, workdir: config.WorkingDir, environment: config.Env, command: config.Cmd };
  }

  /** Megabytes of an image. */
  megabytesOf(image) {
    const [{ size }] = JSON.parse(this.now('images', '--json', image));
    return size;
  }

  /** Makes a container of an image. Answers the folder with its files. */
  mount(image) {
    return this.now('mount', this.now('from', '--pull-never', image).trim()).trim();
  }

  /** Removes every container. */
  close() {
    this.now('umount', '--all');
    this.now('rm', '--all');
  }

  async makeBase() {
    const draft = mkdtempSync(join(this.folder, 'base-'));
    try {
      await run('debootstrap', ['--variant=minbase', 'bookworm', draft], { maxBuffer: OUTPUT_BYTES });
      const npm = ['install', '--global', '--prefix', join(draft, 'usr/local'), '--no-audit', '--no-fund', 'npm@11'];
      await run(process.execPath, [findNpm(), ...npm], { cwd: this.folder });
      copyFileSync(process.execPath, join(draft, 'usr/local/bin/node'));
      const container = this.now('from', 'scratch').trim();
      await this.do('copy', '--quiet', container, draft, '/');
      const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
      this.now('config', '--workingdir', '/', '--env', path, container);
      await this.do('commit', '--quiet', '--rm', container, this.baseName);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }

  /** The registry of packages and the certificates that npm uses here, and the settings of this user. */
  machine() {
    const registry = execFileSync(process.execPath, [findNpm(), 'config', 'get', 'registry'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const certificates = process.env.NODE_EXTRA_CA_CERTS;
    const lines = [`registry=${registry.trim()}`, ...(certificates ? [`cafile=${CERTIFICATES}`] : [])];
    const file = join(this.folder, 'npmrc');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const mine = join(homedir(), '.npmrc');
    const mounts = [
      [file, '/usr/local/etc/npmrc'],
      ...(certificates ? [[certificates, CERTIFICATES]] : []),
      ...(existsSync(mine) ? [[mine, '/root/.npmrc']] : []),
    ];
    return mounts.flatMap(([from, to]) => ['--volume', `${from}:${to}:ro`]);
  }

  async timed(what, work) {
    const startedMs = performance.now();
    await work();
    this.say(`${what}: ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
  }

  args(args) {
    const store = ['--root', join(this.folder, 'store'), '--runroot', join(this.folder, 'run')];
    return [...store, '--storage-driver', 'overlay', ...args];
  }

  now(...args) {
    return execFileSync('buildah', this.args(args), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  async do(...args) {
    const { stdout } = await run('buildah', this.args(args), { maxBuffer: OUTPUT_BYTES });
    return stdout;
  }
}
