import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expectFreeDisk } from './disk.mjs';
import { readIfThere } from './files.mjs';
import {
  beginStep,
  differences,
  endStep,
  isInstalled,
  matchesLock,
  readInstalled,
  readList,
  scopeOf,
  wasInterrupted,
  writeStamp,
} from './installed.mjs';
import { findNpm, offerToNpmScripts } from './node-runtime.mjs';
import { Failure, timed, wayOutOf } from './report.mjs';
import { childEnvironment, runQuietly } from './run.mjs';

const step = 'Installing packages';
/** Packages and npm's cache of them, in megabytes. */
const neededMb = { run: 700, all: 1200 };

/** npm goes on when a file of a package cannot be written, and then says that all is well. */
function refuseIncomplete(output) {
  const lines = output.split('\n').filter((line) => /TAR_ENTRY_ERROR|ENOSPC/.test(line));
  if (lines.length > 0) throw new Failure(step, lines.slice(0, 3).join('\n'), wayOutOf(lines.join('\n')));
}

async function runNpmOnce(root, node, args) {
  const quiet = ['--ignore-scripts', '--loglevel=warn', '--no-audit', '--no-fund'];
  const options = { cwd: root, env: childEnvironment(node, root) };
  refuseIncomplete(await runQuietly(step, node, [findNpm(), ...args, ...quiet], options));
}

async function runNpm(root, node, args, scope) {
  const scoped = [...args, ...(scope === 'run' ? ['--omit=dev'] : ['--include=dev'])];
  try {
    await runNpmOnce(root, node, [...scoped, '--prefer-offline']);
  } catch (error) {
    // The cache may be too old to know the wanted versions.
    if (!(error instanceof Failure) || !/ETARGET|ENOTCACHED|EINTEGRITY/.test(error.message)) throw error;
    await runNpmOnce(root, node, scoped);
  }
}

/** Changes only what differs, for a workspace may be running from the rest. */
async function install(root, node, { lock, installed, scope }) {
  if (installed !== undefined) {
    await runNpm(root, node, ['install', '--no-save'], scope);
    if (matchesLock(lock, readList(root) ?? { packages: {} }, scope)) return;
    // The lock file and package.json disagree: what follows tells, and has removed nothing by then.
  }
  await runNpm(root, node, ['ci'], scope);
}

/** npm takes a folder that an interrupted step left behind for the whole package. */
function removePieces(root, lock, installed) {
  for (const path of differences(lock, installed)) rmSync(join(root, path), { recursive: true, force: true });
}

/** Never installs less than what is there: tests may be running from it. */
async function installInOneStep(root, node, { lockText, wanted }) {
  const lock = JSON.parse(lockText);
  const installed = readInstalled(root);
  const scope = installed !== undefined && scopeOf(installed) === 'all' ? 'all' : wanted;
  expectFreeDisk(root, installed === undefined ? neededMb[scope] : neededMb.all - neededMb.run);
  if (wasInterrupted(root) && installed !== undefined) removePieces(root, lock, installed);
  beginStep(root, lockText, installed);
  await install(root, node, { lock, installed, scope });
  endStep(root);
  return scope;
}

/**
 * Installs the packages of the lock file under the given Node, unless they are there. No package's own script is run.
 * @param scope `run` for what building and running need, `all` with what only development needs
 */
export async function ensureInstalled(root, node, scope) {
  const lockText = readIfThere(join(root, 'package-lock.json'));
  if (lockText === undefined)
    throw new Failure(step, 'package-lock.json is missing.', 'Restore it: git checkout package-lock.json');
  const title = scope === 'run' ? step : `${step}, including those for development`;
  let present = scope;
  if (!isInstalled(root, lockText, scope))
    present = await timed(title, () => installInOneStep(root, node, { lockText, wanted: scope }));
  offerToNpmScripts(root, node);
  writeStamp(root, lockText, present);
}
