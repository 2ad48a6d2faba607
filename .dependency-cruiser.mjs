import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * What each library may import of ours. The arrows of docs/architecture.md, as data; a library that is not in the
 * table fails. The comment of each rule is what a developer who broke it reads.
 */
const allowed = {
  contracts: [],
  client: ['contracts'],
  domain: ['contracts'],
  bus: ['contracts'],
  platform: ['contracts', 'bus'],
  database: ['contracts', 'bus', 'platform'],
  services: ['contracts', 'domain', 'disk', 'bus', 'platform', 'database', 'remotes'],
  disk: ['contracts', 'domain'],
  remotes: ['contracts', 'domain', 'disk', 'platform'],
  device: ['contracts', 'domain', 'disk', 'bus', 'platform'],
  surfaces: ['contracts', 'domain', 'bus', 'platform'],
  testing: ['contracts', 'domain', 'bus', 'platform', 'database'],
};

/** Specs, their fixtures and suites, benchmarks: never part of what runs in production. */
const testCode = '\\.(spec|fixture|suite|conformance)\\.ts$|/(testing|test|bench|conformance)/|^(test|tools)/';

function folderOf(library) {
  return library === 'services' ? '^libs/services/[^/]+/' : `^libs/${library}/`;
}

function directionRule([library, targets]) {
  const may = targets.length === 0 ? 'nothing of ours' : targets.join(', ');
  return {
    name: `${library}-imports`,
    severity: 'error',
    comment: `${library} may import ${may}. Move the code to a library below, pass it in from above, or turn it into a port.`,
    from: { path: folderOf(library), pathNot: testCode },
    to: { path: '^(libs|apps)/', pathNot: [folderOf(library), ...targets.map(folderOf), '^libs/testing/'] },
  };
}

/** Patterns of the sources that packages list as entries beside their index: what starts often loads nothing else. */
function listedEntries() {
  const manifests = globSync('libs/{*,services/*}/package.json', { cwd: import.meta.dirname });
  return manifests.flatMap((manifest) => {
    const { exports = {} } = JSON.parse(readFileSync(join(import.meta.dirname, manifest), 'utf8'));
    const sources = Object.values(exports).map((entry) => entry['@workspace-graph/source']);
    return sources.map((source) => `^${join(dirname(manifest), source).replaceAll('.', '\\.')}$`);
  });
}

const rules = [
  {
    name: 'browser-code',
    severity: 'error',
    comment: 'contracts and client also run in browsers: they must not use anything that only Node has.',
    from: { path: '^libs/(contracts|client)/', pathNot: testCode },
    to: { dependencyTypes: ['core'] },
  },
  ...Object.entries(allowed).map(directionRule),
  {
    name: 'services-apart',
    severity: 'error',
    comment:
      'A service does not import another one. Call its operation over the bus, or read the view that it publishes.',
    from: { path: '^libs/services/([^/]+)/' },
    to: { path: '^libs/services/', pathNot: '^libs/services/$1/' },
  },
  {
    name: 'apps-apart',
    severity: 'error',
    comment: 'No app imports an app. Move what both need into a library.',
    from: { path: '^apps/([^/]+)/' },
    to: { path: '^apps/', pathNot: '^apps/$1/' },
  },
  {
    name: 'page-on-client',
    severity: 'error',
    comment: 'The page in the browser knows contracts and client alone: whatever it can do, every client can.',
    from: { path: '^apps/desktop/web/' },
    to: { path: '^(libs|apps)/', pathNot: ['^apps/desktop/web/', folderOf('contracts'), folderOf('client')] },
  },
  {
    name: 'apps-on-top',
    severity: 'error',
    comment: 'Nothing imports an app. Move the code into a library that the app imports too.',
    from: { path: '^(libs|prisma)/' },
    to: { path: '^apps/' },
  },
  {
    name: 'test-helpers-in-tests',
    severity: 'error',
    comment:
      'The testing library and other test code are for specs, fixtures, benchmarks and test/. Move what production needs into a library.',
    from: { path: '^(libs|apps)/', pathNot: [testCode, '^libs/testing/'] },
    to: { path: ['^libs/testing/', testCode] },
  },
  {
    name: 'package-entries',
    severity: 'error',
    comment:
      'Import another package by its name (@workspace-graph/…), and export what you need from its src/index.ts, from an entry that its package.json lists, or for specs from its test/index.ts.',
    from: { path: '^((?:libs/services|libs|apps)/[^/]+)/' },
    to: {
      path: '^(libs|apps)/',
      pathNot: ['^$1/', '^(libs/services|libs|apps)/[^/]+/((src|test)/index\\.ts|package\\.json)$', ...listedEntries()],
    },
  },
  {
    name: 'package-names',
    severity: 'error',
    comment: 'Import another package by its name (@workspace-graph/…), not by a path that leaves your own.',
    from: { path: '^((?:libs/services|libs|apps)/[^/]+)/' },
    to: {
      path: '^(libs|apps)/',
      pathNot: '^$1/',
      dependencyTypes: ['local'],
      dependencyTypesNot: ['aliased-workspace'],
    },
  },
  {
    name: 'known-libraries',
    severity: 'error',
    comment: 'This library is not in the table of .dependency-cruiser.mjs. Add what it may import.',
    from: { path: '^libs/', pathNot: Object.keys(allowed).map(folderOf) },
    to: {},
  },
  {
    name: 'no-cycle',
    severity: 'error',
    comment: 'These files import each other in a cycle, including types. Move what they share into a separate file.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'resolvable',
    severity: 'error',
    comment: 'Nothing has this name. Declare the package in package.json, or correct the path.',
    from: {},
    to: { couldNotResolve: true },
  },
];

export default {
  forbidden: rules,
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|node_modules|generated)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@workspace-graph/source', 'import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
  },
};
