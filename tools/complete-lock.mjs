#!/usr/bin/env node
/**
 * A registry that lacks some packages for other systems makes npm leave them out of package-lock.json, and then
 * `npm ci` refuses the lock. This adds them from what their parents declare; `--check` only says whether all is there.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const systemAliases = { windows: 'win32' };
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'];
const fieldOrder = ['version', 'cpu', 'dev', 'libc', 'license', 'optional', 'os'];

/** What a package's name says of the system it is for: `core-linux-arm64-musl`, `resolver-binding-win32-x64-msvc`, … */
export function systemOf(name) {
  const words = name.slice(name.lastIndexOf('/') + 1).split('-');
  const os = words.map((word) => systemAliases[word] ?? word).find((word) => systems.includes(word));
  const cpu = words.find((word) => processors.includes(word));
  const musl = words.some((word) => word.startsWith('musl'));
  const glibc = words.some((word) => word.startsWith('gnu'));
  return {
    ...(os === undefined ? {} : { os: [os] }),
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(os === 'linux' && (musl || glibc) ? { libc: [musl ? 'musl' : 'glibc'] } : {}),
  };
}

/** Node's look-up: the nearest `node_modules` folder on the way up. */
function isResolvable(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(at.lastIndexOf('/'), 0))) {
    if (packages[`${at}${at === '' ? '' : '/'}node_modules/${name}`] !== undefined) return true;
    if (at === '') return false;
  }
}

/** Optional dependencies that no entry of the lock stands for. */
export function missingEntries(lock) {
  return Object.entries(lock.packages).flatMap(([parent, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => !isResolvable(lock.packages, parent, name))
      .map(([name, version]) => ({ parent, name, version })),
  );
}

/** Things in the lock that bind it to one registry. */
export function registryTraces(lock) {
  return Object.entries(lock.packages).flatMap(([path, entry]) =>
    entry.resolved !== undefined && !entry.link ? [`${path}: ${entry.resolved}`] : [],
  );
}

function entryFor(lock, { parent, name, version }) {
  if (!/^\d+\.\d+\.\d+/.test(version))
    throw new Error(`${parent} requires ${name}@${version}, which is not an exact version: it cannot be completed`);
  const parentEntry = lock.packages[parent];
  const fields = {
    version,
    ...systemOf(name),
    optional: true,
    ...(parentEntry.license ? { license: parentEntry.license } : {}),
    ...(parentEntry.dev ? { dev: true } : {}),
  };
  return Object.fromEntries(fieldOrder.filter((field) => field in fields).map((field) => [field, fields[field]]));
}

/** The lock with an entry for each missing package, in npm's own order. */
export function complete(lock) {
  const added = missingEntries(lock).map((missing) => [`node_modules/${missing.name}`, entryFor(lock, missing)]);
  const packages = Object.entries(lock.packages).map(([path, { resolved, ...entry }]) => [
    path,
    entry.link ? { resolved, ...entry } : entry,
  ]);
  const sorted = [...packages, ...added].sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lock, packages: Object.fromEntries(sorted) };
}

function main(args) {
  const file = join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const missing = missingEntries(lock);
  const traces = registryTraces(lock);
  if (missing.length + traces.length === 0) {
    console.log('package-lock.json is complete');
    return 0;
  }
  for (const { parent, name, version } of missing) console.log(`missing: ${name}@${version} (of ${parent})`);
  for (const trace of traces) console.log(`names a registry: ${trace}`);
  if (args.includes('--check')) {
    console.log('package-lock.json is not complete. Run: node tools/complete-lock.mjs');
    return 1;
  }
  writeFileSync(file, `${JSON.stringify(complete(lock), null, 2)}\n`);
  console.log(`${missing.length} entries added, ${traces.length} registry addresses removed`);
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
