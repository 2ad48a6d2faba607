import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfThere, readJsonIfWhole } from './files.mjs';

/** What npm says it installed; absent until it has finished. A developer's own npm writes it as well. */
function listFile(root) {
  return join(root, 'node_modules', '.package-lock.json');
}

/** The same after a step of ours: earlier revisions, which know of no parts, then install everything anew. */
function ownListFile(root) {
  return join(root, 'node_modules', '.workspace-graph-packages');
}

/** `run HASH` or `all HASH`: what of which lock file is installed. */
function stampFile(root) {
  return join(root, 'node_modules', '.workspace-graph-install');
}

/** The packages that a step which has not ended leaves alone. Outside node_modules, which a step may remove. */
function pendingFile(root) {
  return join(root, '.toolchain', 'installing');
}

/** A link to a package of ours has no version. */
function isSame(wanted, present) {
  return present !== undefined && present.version === wanted.version;
}

/** Paths in the lock file whose package is absent or has another version. */
export function differences(lock, installed) {
  return Object.entries(lock.packages)
    .filter(([path, wanted]) => path.includes('node_modules/') && !isSame(wanted, installed.packages[path]))
    .map(([path]) => path);
}

/**
 * True when what npm says it installed is what the lock file asks for; packages for other systems may be absent.
 * @param scope `run` for what building and running need, `all` with what only development needs
 */
export function matchesLock(lock, installed, scope) {
  return differences(lock, installed).every((path) => {
    const wanted = lock.packages[path];
    if (scope === 'run' && wanted.dev) return true;
    return installed.packages[path] === undefined && Boolean(wanted.optional || wanted.devOptional);
  });
}

function isThere(root, path, { link, version }) {
  const manifest = readJsonIfWhole(join(root, path, 'package.json'));
  return manifest !== undefined && (link === true || manifest.version === version);
}

/** What is there of npm's list: `npm install --package-lock-only` lists what it did not install. */
export function readList(root) {
  const listed = readJsonIfWhole(listFile(root)) ?? readJsonIfWhole(ownListFile(root));
  if (listed === undefined) return undefined;
  const present = Object.entries(listed.packages).filter(
    ([path, one]) => path.includes('node_modules/') && isThere(root, path, one),
  );
  return { packages: Object.fromEntries(present) };
}

/** The packages that are whole; undefined when none can be relied on. */
export function readInstalled(root) {
  return wasInterrupted(root) ? readJsonIfWhole(pendingFile(root)) : readList(root);
}

/** `all` once any package is there that only development needs. */
export function scopeOf(installed) {
  return Object.values(installed.packages).some((one) => one.dev) ? 'all' : 'run';
}

/** True when the last step did not end, or failed: what it touched may be in pieces. */
export function wasInterrupted(root) {
  return existsSync(pendingFile(root));
}

/** The part of npm's list that the lock file asks for as it is, which no step touches. */
function untouched(lock, installed) {
  const packages = Object.entries(installed.packages).filter(([path, one]) => {
    const wanted = lock.packages[path];
    return wanted !== undefined && isSame(wanted, one);
  });
  return { packages: Object.fromEntries(packages) };
}

/** From here until `endStep`, only what the step does not touch counts as installed. */
export function beginStep(root, lockText, installed) {
  const safe = installed === undefined ? null : untouched(JSON.parse(lockText), installed);
  mkdirSync(dirname(pendingFile(root)), { recursive: true });
  writeFileSync(pendingFile(root), JSON.stringify(safe));
  for (const file of [listFile(root), ownListFile(root)]) rmSync(file, { force: true });
  // What runs stays as it is when only packages for development are added.
  if (!isStamped(root, lockText, 'run')) rmSync(stampFile(root), { force: true });
}

export function endStep(root) {
  if (existsSync(listFile(root))) renameSync(listFile(root), ownListFile(root));
  rmSync(pendingFile(root), { force: true });
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('hex');
}

function isStamped(root, lockText, scope) {
  const [had, hash] = readIfThere(stampFile(root))?.split(' ') ?? [];
  return hash === hashOf(lockText) && (had === 'all' || had === scope);
}

/** Links to our own packages, and what lies in their folders, go when such a folder is cleaned or copied. */
function ownAreThere(root, lock, scope) {
  return Object.entries(lock.packages)
    .filter(([path, { link }]) => link || (path.includes('/node_modules/') && !path.startsWith('node_modules/')))
    .every(([path, { dev, optional }]) => optional || (scope === 'run' && dev) || existsSync(join(root, path)));
}

/** The stamp is quick to compare; without it, a developer's own `npm install` counts as well. */
export function isInstalled(root, lockText, scope) {
  const lock = JSON.parse(lockText);
  if (isStamped(root, lockText, scope)) return ownAreThere(root, lock, scope);
  if (wasInterrupted(root)) return false;
  const installed = readList(root);
  return installed !== undefined && matchesLock(lock, installed, scope);
}

export function writeStamp(root, lockText, scope) {
  if (isStamped(root, lockText, scope)) return;
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stampFile(root), `${scope} ${hashOf(lockText)}`);
}
