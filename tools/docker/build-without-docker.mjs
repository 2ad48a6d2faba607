import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { filled, readDockerfile, readIgnored, readPairs } from './dockerfile.mjs';

/**
 * What a target of the Dockerfile becomes.
 * @typedef {{ folder: string, workdir: string, environment: Record<string, string>, settings: Record<string, string>, user: string, command: string[] }} Image
 * @typedef {{ root: string, into: string, reuse?: Record<string, string>, say?: (line: string) => void }} BuildOptions
 */

/**
 * Carries out the instructions of the Dockerfile for a service, each stage in a folder below `into`. Programs run on this
 * machine instead of in the base image; `reuse` names folders that stand for the work folder of a stage, which is then
 * not built.
 * @param {string} service
 * @param {BuildOptions} options
 * @returns {Promise<Image>}
 */
export function buildWithoutDocker(service, options) {
  const stages = new Map(
    readDockerfile(readFileSync(join(options.root, 'Dockerfile'), 'utf8')).map((stage) => [stage.name, stage]),
  );
  const ignored = readIgnored(readFileSync(join(options.root, '.dockerignore'), 'utf8'));
  return new Builder(stages, ignored, { ...options, settings: { SERVICE: service } }).build('service');
}

class Builder {
  constructor(stages, ignored, { root, into, settings, reuse = {}, say = () => undefined }) {
    Object.assign(this, { stages, ignored, root, into, settings, reuse, say });
    this.built = new Map();
  }

  async build(name) {
    const image = this.built.get(name) ?? (await this.make(name));
    this.built.set(name, image);
    return image;
  }

  async make(name) {
    const stage = this.stages.get(name);
    if (stage === undefined) throw new Error(`The Dockerfile has no stage ${name}`);
    const image = await this.begin(stage);
    for (const instruction of stage.instructions) {
      this.say(`${name}: ${instruction.keyword} ${instruction.text}`);
      await this.carryOut(instruction, image);
    }
    return image;
  }

  /** A stage begins as a copy of the one that it builds on, or empty where that is an image from outside. */
  async begin({ name, base }) {
    const folder = join(this.into, name);
    mkdirSync(folder, { recursive: true });
    if (!this.stages.has(base))
      return { folder, workdir: '/', environment: {}, settings: {}, user: 'root', command: [] };
    const parent = await this.build(base);
    cpSync(parent.folder, folder, { recursive: true, verbatimSymlinks: true });
    return { ...parent, folder, environment: { ...parent.environment }, settings: {} };
  }

  async carryOut({ keyword, flags, text, line }, image) {
    switch (keyword) {
      case 'WORKDIR':
        image.workdir = text;
        mkdirSync(join(image.folder, text), { recursive: true });
        return;
      case 'ARG':
        image.settings[text] = this.settings[text];
        return;
      case 'ENV':
        Object.assign(image.environment, readPairs(filled(text, image.settings, line)));
        return;
      case 'USER':
        image.user = text;
        return;
      case 'CMD':
        image.command = JSON.parse(text);
        return;
      case 'COPY':
        return this.copy(text.split(' '), flags.from, image);
      case 'RUN':
        return run(text, join(image.folder, image.workdir), { ...image.environment, ...image.settings });
      case 'LABEL':
        return;
      default:
        throw new Error(`Line ${line}: ${keyword} is not supported here`);
    }
  }

  async copy(paths, from, image) {
    const target = paths.at(-1);
    const destination = target.startsWith('/') ? join(image.folder, target) : join(image.folder, image.workdir, target);
    for (const path of paths.slice(0, -1)) {
      const source = from === undefined ? join(this.root, path) : await this.placeOf(from, path);
      if (!existsSync(source)) throw new Error(`COPY ${path}: it does not exist`);
      const isFolder = statSync(source).isDirectory();
      // A folder's content is copied; a file goes into a folder whose name ends with a slash.
      const to = !isFolder && target.endsWith('/') ? join(destination, basename(path)) : destination;
      mkdirSync(dirname(to), { recursive: true });
      const filter = from === undefined ? (file) => this.isInContext(file) : undefined;
      cpSync(source, to, { recursive: true, verbatimSymlinks: true, filter });
    }
  }

  async placeOf(stage, path) {
    const { workdir } = await (this.reuse[stage] ? this.build(this.stages.get(stage).base) : this.build(stage));
    if (this.reuse[stage]) return join(this.reuse[stage], relative(workdir, path));
    return join((await this.build(stage)).folder, path);
  }

  /** Folders are walked where something below them may be let in again. */
  isInContext(file) {
    const path = relative(this.root, file).replaceAll('\\', '/');
    return path === '' || !this.ignored(path);
  }
}

function run(command, cwd, environment) {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  return new Promise((resolve, reject) => {
    // What was fetched before need not be fetched again.
    const { HOME, NODE_EXTRA_CA_CERTS } = process.env;
    const machine = { PATH: path, HOME, ...(NODE_EXTRA_CA_CERTS ? { NODE_EXTRA_CA_CERTS } : {}) };
    const env = { ...machine, npm_config_prefer_offline: 'true', ...environment };
    const child = spawn('sh', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} failed:\n${output.slice(-5_000)}`)),
    );
  });
}
