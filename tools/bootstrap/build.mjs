import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { timed } from './report.mjs';
import { childEnvironment, runQuietly } from './run.mjs';

const notSources = new Set(['node_modules', 'dist', 'generated', '.nx', '.git', '.swc', 'coverage']);

/** Name, size and time of every file below a folder: what is equal there was not edited. */
function fingerprint(path, hash) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) {
    hash.update(`${path}\0${stat.size}\0${stat.mtimeMs}\n`);
    return;
  }
  for (const name of readdirSync(path).sort()) {
    if (!notSources.has(name)) fingerprint(join(path, name), hash);
  }
}

function sourcesFingerprint(root) {
  const hash = createHash('sha256');
  for (const path of [
    'libs',
    'apps',
    'prisma',
    'prisma.config.ts',
    'package.json',
    'package-lock.json',
    'nx.json',
    '.swcrc',
  ]) {
    fingerprint(join(root, path), hash);
  }
  return hash.digest('hex');
}

/** Folders of the workspace's packages, from the patterns in package.json. */
export function packageFolders(root) {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return workspaces
    .flatMap((pattern) => {
      if (!pattern.endsWith('/*')) return [pattern];
      const parent = pattern.slice(0, -2);
      return readdirSync(join(root, parent)).map((name) => `${parent}/${name}`);
    })
    .filter((folder) => existsSync(join(root, folder, 'package.json')));
}

function isBuilt(root) {
  return packageFolders(root).every((folder) => {
    const { scripts } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    return scripts?.build === undefined || existsSync(join(root, folder, 'dist'));
  });
}

/** Builds every package (the database client is generated on the way), unless no source changed since the last time. */
export async function ensureBuilt(root, node) {
  const stampFile = join(root, 'node_modules', '.workspace-graph-build');
  const wanted = sourcesFingerprint(root);
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted && isBuilt(root)) return;
  const nx = join(root, 'node_modules', 'nx', 'dist', 'bin', 'nx.js');
  const args = [nx, 'run-many', '-t', 'build', '--outputStyle=static'];
  await timed('Building', () => runQuietly('Building', node, args, { cwd: root, env: childEnvironment(node, root) }));
  writeFileSync(stampFile, wanted);
}
