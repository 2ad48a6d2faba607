import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expectFreeDisk } from './disk.mjs';
import { Failure, timed } from './report.mjs';
import { runQuietly } from './run.mjs';

export const wantedMajor = 24;
const neededMb = 400;
const executable = process.platform === 'win32' ? 'node.exe' : join('bin', 'node');

/** The version to fetch is the one that package.json pins. */
function pinnedVersion(root) {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies.node;
}

function toolFolder(root, version) {
  return join(root, '.toolchain', `node-${version}-${process.platform}-${process.arch}`);
}

/** Names under which the registry holds Node's own builds. */
function packageName() {
  if (process.platform === 'win32') return `node-win-${process.arch === 'ia32' ? 'x86' : process.arch}`;
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  return `${prefix}-${process.platform}-${process.arch}`;
}

function majorOf(node) {
  try {
    return Number(
      execFileSync(node, ['-p', 'process.versions.node.split(".")[0]'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    );
  } catch {
    // A build for another system, or a broken one: as good as absent.
    return 0;
  }
}

/** npm's own program, so that it can be run under a Node of our choice. */
export function findNpm() {
  const beside = dirname(process.execPath);
  const candidates = [
    process.env.npm_execpath,
    join(beside, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(beside, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    '/usr/share/nodejs/npm/bin/npm-cli.js',
    '/usr/lib/node_modules/npm/bin/npm-cli.js',
    ...(process.env.PATH ?? '')
      .split(delimiter)
      .flatMap((folder) => [
        join(folder, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
        join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
      ]),
  ];
  const found = candidates.find((file) => file !== undefined && /npm-cli\.c?js$/.test(file) && existsSync(file));
  if (found !== undefined) return found;
  throw new Failure(
    'Looking for npm',
    'npm is not installed beside Node.',
    'Install Node.js with npm from nodejs.org or your system, and run the same command again.',
  );
}

async function fetchNode(root, version) {
  expectFreeDisk(root, neededMb);
  const target = toolFolder(root, version);
  const draft = `${target}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, 'package.json'), '{"private":true}\n');
  const args = [
    findNpm(),
    'install',
    '--ignore-scripts',
    '--no-save',
    '--no-package-lock',
    '--loglevel=error',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    `${packageName()}@${version}`,
  ];
  try {
    await runQuietly(`Fetching Node ${version}`, process.execPath, args, { cwd: draft, env: process.env });
    rmSync(target, { recursive: true, force: true });
    renameSync(join(draft, 'node_modules', packageName()), target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  const node = join(target, executable);
  if (majorOf(node) < wantedMajor) {
    throw new Failure(
      `Fetching Node ${version}`,
      `The build for ${process.platform} ${process.arch} does not run here.`,
      `Install Node.js ${wantedMajor} yourself and run the same command again.`,
    );
  }
  return node;
}

/** Linked where the system allows it, copied elsewhere. */
function place(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  rmSync(to, { force: true });
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/**
 * The Node to run everything under: this one if it is new enough, else one kept in `.toolchain`, taken from the
 * installed packages or fetched from the registry.
 */
export async function findNode(root) {
  if (Number(process.versions.node.split('.')[0]) >= wantedMajor) return process.execPath;
  const version = pinnedVersion(root);
  const kept = join(toolFolder(root, version), executable);
  if (existsSync(kept)) return kept;
  // Copied out, because a fresh install removes the package while this very binary runs.
  const installed = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(installed) && majorOf(installed) >= wantedMajor) {
    place(installed, kept);
    return kept;
  }
  return timed(`Fetching Node ${version} (this machine has ${process.versions.node})`, () => fetchNode(root, version));
}

/** Puts the binary where npm's own scripts look first, so that `npx` and `npm run` meet the same Node. */
export function offerToNpmScripts(root, node) {
  const packageFolder = join(root, 'node_modules', 'node');
  const target = join(packageFolder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (node.startsWith(join(root, '.toolchain')) && existsSync(packageFolder) && !existsSync(target))
    place(node, target);
}
