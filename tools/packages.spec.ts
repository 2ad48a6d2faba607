import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolders } from './bootstrap/build.mjs';

interface Manifest {
  name: string;
  private?: boolean;
  license?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  allowScripts?: Record<string, boolean>;
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifests = ['.', ...packageFolders(root)].map(
  (folder): Manifest => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
);
const dependencies = manifests.flatMap((manifest) =>
  Object.entries({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }).map(
    ([name, version]) => ({
      of: manifest.name,
      name,
      version,
      isOurs: name.startsWith('@workspace-graph/'),
    }),
  ),
);

interface Locked {
  name?: string;
  dev?: boolean;
  devOptional?: boolean;
  hasInstallScript?: boolean;
}

/** Names of the packages in the lock file for which `matches` is true: real ones, not those that we give them. */
function lockedPackages(matches: (entry: Locked) => boolean): string[] {
  const lock: { packages: Record<string, Locked> } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const names = Object.entries(lock.packages)
    .filter(([path, entry]) => path.includes('node_modules/') && matches(entry))
    .map(([path, { name }]) => name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  return [...new Set(names)];
}

describe('the packages', () => {
  it('name a version of every foreign package, and take our own as they are', () => {
    const wrong = dependencies.filter(({ isOurs, version }) => (version === '*') !== isOurs);
    expect(wrong).toEqual([]);
  });

  it('ask for one version of each foreign package', () => {
    const versions = new Map<string, Set<string>>();
    for (const { name, version } of dependencies) versions.set(name, (versions.get(name) ?? new Set()).add(version));
    expect([...versions].filter(([, wanted]) => wanted.size > 1).map(([name, wanted]) => [name, ...wanted])).toEqual(
      [],
    );
  });

  it('decide about every install script that the lock file holds, and allow as good as none', () => {
    const decided = manifests[0]?.allowScripts ?? {};
    expect(
      lockedPackages(({ hasInstallScript }) => hasInstallScript === true).filter((name) => decided[name] === undefined),
    ).toEqual([]);
    expect(Object.entries(decided).filter(([, allowed]) => allowed)).toEqual([['node', true]]);
  });

  it('leave what only development needs out of what a first start installs', () => {
    // What the page is built of may also be of use to a tool, but no tool comes with it.
    const tools = new Set(manifests.flatMap(({ devDependencies = {} }) => Object.keys(devDependencies)));
    const shared = lockedPackages(({ devOptional }) => devOptional === true);
    expect(shared.filter((name) => tools.has(name) && !name.startsWith('@types/'))).toEqual([]);
    const developing = ['typescript', 'jest', 'nx', 'testcontainers', '@biomejs/biome', 'oxlint', '@nestjs/testing'];
    const running = lockedPackages(({ dev }) => dev !== true);
    expect(running.filter((name) => developing.includes(name))).toEqual([]);
    expect(lockedPackages(({ dev }) => dev === true)).toEqual(expect.arrayContaining(developing));
  });

  it('are private and under the licence of the repository', () => {
    expect(
      manifests.filter(({ license, private: isPrivate }) => license !== 'Apache-2.0' || isPrivate !== true),
    ).toEqual([]);
  });
});
