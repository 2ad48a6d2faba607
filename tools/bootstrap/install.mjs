import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectFreeDisk } from './disk.mjs';
import { findNpm, offerToNpmScripts } from './node-runtime.mjs';
import { Failure, timed, wayOutOf } from './report.mjs';
import { childEnvironment, runQuietly } from './run.mjs';

const neededMb = 1200;

function stampFile(root) {
  return join(root, 'node_modules', '.workspace-graph-install');
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('hex');
}

function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** True when what npm says it installed is what the lock file asks for; packages for other systems may be absent. */
export function matchesLock(lock, installed) {
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === '' || wanted.link || !path.includes('node_modules/')) return true;
    const present = installed.packages[path];
    return present === undefined ? Boolean(wanted.optional || wanted.devOptional) : present.version === wanted.version;
  });
}

function isInstalled(root, lockText) {
  if (readIfThere(stampFile(root)) === hashOf(lockText)) return true;
  // Absent until npm has finished; a developer's own `npm install` counts.
  const installed = readIfThere(join(root, 'node_modules', '.package-lock.json'));
  return installed !== undefined && matchesLock(JSON.parse(lockText), JSON.parse(installed));
}

/** npm goes on when a file of a package cannot be written, and then says that all is well. */
function refuseIncomplete(output) {
  const lines = output.split('\n').filter((line) => /TAR_ENTRY_ERROR|ENOSPC/.test(line));
  if (lines.length > 0)
    throw new Failure('Installing packages', lines.slice(0, 3).join('\n'), wayOutOf(lines.join('\n')));
}

async function runNpmCi(root, node, options) {
  const args = [findNpm(), 'ci', '--ignore-scripts', '--loglevel=warn', '--no-audit', '--no-fund', ...options];
  try {
    refuseIncomplete(
      await runQuietly('Installing packages', node, args, { cwd: root, env: childEnvironment(node, root) }),
    );
  } catch (error) {
    // Without it, the next start sees that the installation is not whole.
    rmSync(join(root, 'node_modules', '.package-lock.json'), { force: true });
    throw error;
  }
}

async function install(root, node) {
  expectFreeDisk(root, neededMb);
  try {
    await runNpmCi(root, node, ['--prefer-offline']);
  } catch (error) {
    // The cache may be too old to know the wanted versions.
    if (!(error instanceof Failure) || !/ETARGET|ENOTCACHED|EINTEGRITY/.test(error.message)) throw error;
    await runNpmCi(root, node, []);
  }
}

/** Installs the packages of the lock file under the given Node, unless they are there. No package's own script is run. */
export async function ensureInstalled(root, node) {
  const lockText = readIfThere(join(root, 'package-lock.json'));
  if (lockText === undefined)
    throw new Failure(
      'Installing packages',
      'package-lock.json is missing.',
      'Restore it: git checkout package-lock.json',
    );
  if (!isInstalled(root, lockText)) await timed('Installing packages', () => install(root, node));
  offerToNpmScripts(root, node);
  if (readIfThere(stampFile(root)) === hashOf(lockText)) return;
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stampFile(root), hashOf(lockText));
}
