import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { readJsonIfWhole } from './files.mjs';
import { timed } from './report.mjs';
import { childEnvironment, runQuietly, shellCommand } from './run.mjs';

const notSources = new Set(['node_modules', 'dist', 'generated', '.nx', '.git', '.swc', 'coverage']);
/** A change of these builds every package anew. */
const common = ['prisma', 'prisma.config.ts', 'package.json', 'package-lock.json', '.swcrc'];

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

function fingerprintOf(root, paths) {
  const hash = createHash('sha256');
  for (const path of paths) fingerprint(join(root, path), hash);
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

/**
 * What is made of the packages, in steps that need what the ones before them made: each with the folder that it is made in, the
 * script, and a fingerprint of what it is made from.
 */
function stepsOf(root) {
  const shared = fingerprintOf(root, common);
  const packages = packageFolders(root).map((folder) => ({
    folder,
    ...JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
  }));
  const builds = packages
    .filter(({ scripts }) => scripts?.build !== undefined)
    .map(({ folder, scripts, bundles = [] }) => {
      const wanted = shared + fingerprintOf(root, [folder, ...bundles]);
      return { key: folder, folder, made: 'dist', script: scripts.build, wanted };
    });
  const all = createHash('sha256')
    .update(builds.map(({ wanted }) => wanted).join())
    .digest('hex');
  const wanted = all + fingerprintOf(root, ['tools/bundle.mjs']);
  const bundles = packages
    .filter(({ scripts }) => scripts?.bundle !== undefined)
    .map(({ folder, scripts }) => ({
      key: `${folder} bundle`,
      folder,
      made: 'dist/bundle',
      script: scripts.bundle,
      wanted,
    }));
  // Each file is compiled on its own, so that packages need not wait for those they import.
  return [builds, bundles];
}

async function run(root, node, steps) {
  const left = [...steps];
  const environment = childEnvironment(node, root);
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [command, args] = shellCommand(next.script);
      await runQuietly(`Building ${next.folder}`, command, args, { cwd: join(root, next.folder), env: environment });
    }
  };
  const results = await Promise.allSettled(Array.from({ length: cpus().length }, work));
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Builds each package whose sources changed since the last time, and bundles the apps, or the one that is started alone. */
export async function ensureBuilt(root, node, app) {
  const stampFile = join(root, 'node_modules', '.workspace-graph-build');
  const built = readJsonIfWhole(stampFile) ?? {};
  const [builds, bundles] = stepsOf(root);
  const steps = [builds, app === undefined ? bundles : bundles.filter(({ folder }) => folder === app)];
  const isStale = ({ key, folder, made, wanted }) => built[key] !== wanted || !existsSync(join(root, folder, made));
  const stale = steps.map((step) => step.filter(isStale));
  if (stale.flat().length === 0) return;
  rmSync(stampFile, { force: true });
  await timed('Building', async () => {
    for (const step of stale) await run(root, node, step);
  });
  const made = Object.fromEntries(steps.flat().map(({ key, wanted }) => [key, wanted]));
  writeFileSync(stampFile, JSON.stringify({ ...built, ...made }));
}
