#!/usr/bin/env node
import { spawnSync } from 'node:child_process';
/** The long random searches, from a fresh seed: what `.ci/run` does a fixed share of. `--help` tells the options. */
import { randomInt } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Each takes a few minutes a round: the spec files, and how far they go. */
export const SEARCHES = {
  access: {
    specs: ['test/access/access.property', 'test/access/crowd', 'test/access/concurrent', 'test/access/link'],
    sizes: { SVC_PROPERTY_STEPS: 10_000, SVC_ACCESS_LINK_STEPS: 3_000 },
  },
  inputs: {
    specs: ['libs/device/src/files/hostile-inputs', 'test/e2e/files-agent'],
    sizes: { SVC_FUZZ_INPUTS: 5_000 },
  },
  paths: { specs: ['libs/disk/src/paths'], sizes: { SVC_FUZZ_PATHS: 20_000 } },
  remotes: { specs: ['libs/remotes/src/random'], sizes: { SVC_REMOTE_RUNS: 1_000 } },
  storages: {
    specs: ['fs', 'objstore', 'sftp', 'webdav', 'filehost', 'drive'].map((name) => `libs/remotes/src/${name}/${name}`),
    sizes: { SVC_REMOTE_MB: 2_048, SVC_REMOTE_FILES: 10_000 },
  },
  scan: {
    specs: ['libs/device/src/watcher/random', 'libs/device/src/files/out-of-reach'],
    sizes: { SVC_SCAN_STEPS: 2_000 },
  },
  savers: { specs: ['libs/device/src/files/savers'], sizes: { SVC_SAVER_ROUNDS: 200 } },
  search: { specs: ['libs/device/src/search'], sizes: { SVC_SEARCH_RUNS: 2_000 } },
  configuration: {
    specs: ['libs/device/src/mirrors/client-config/client-config'],
    sizes: { SVC_PROPERTY_RUNS: 3_000 },
  },
  registry: { specs: ['libs/device/src/store/registry-kill'], sizes: { SVC_REGISTRY_KILLS: 50 } },
  transfers: {
    specs: ['test/central/interrupted-transfers'],
    sizes: { SVC_TRANSFER_FILES: 2_000, SVC_TRANSFER_MB: 512, SVC_TRANSFER_LARGEST_MB: 2_048 },
  },
  disk: { specs: ['libs/device/src/files/full-disk'], sizes: { SVC_DISK_STEPS: 10 } },
  graph: {
    specs: ['libs/services/graph/src/(snapshot|context|search)', 'libs/services/graph/src/nodes/storm'],
    sizes: {},
  },
  surfaces: {
    specs: [
      'libs/surfaces/src/rest/openapi',
      'libs/surfaces/src/mcp/(http|answer-budget)',
      'test/e2e/openapi',
      'libs/contracts/src/files',
    ],
    sizes: {},
  },
  sessions: { specs: ['libs/services/session/src/random.spec'], sizes: { SVC_SESSION_RUNS: 60 } },
  live: { specs: ['test/live/random.spec'], sizes: { SVC_LIVE_RUNS: 100 } },
  drawing: { specs: ['test/web/graph-places'], sizes: {} },
  // The flows of the page in the languages in which the tests leave them out.
  languages: { specs: ['test/web/'], sizes: { SVC_TEST_LANGUAGE: 'other' } },
  agents: { specs: ['test/live/hostile'], sizes: { SVC_FUZZ_FRAMES: 10_000, SVC_FUZZ_CALLS: 10_000 } },
  benchmark: {
    specs: ['test/bench/bench.spec'],
    sizes: { SVC_BENCH_PARTS: 'first-view,graph,log,typing,live,memory' },
  },
  rules: { specs: ['libs/domain/src', 'libs/device/src/status', 'libs/services/file/src/records'], sizes: {} },
};
const SEEDS = ['SVC_TEST_SEED', 'SVC_PROPERTY_SEED', 'SVC_SCAN_SEED', 'SVC_SAVER_SEED'];
const MOST_SEED = 1_000_000_000;

const HELP = `Usage: npm run soak -- [--minutes N] [--seed N] [--only NAMES]

Runs the random searches for faults, longer than the tests do, from a new seed. Repeats all
searches, each round with the next seed, until one fails or the time is over.

  --minutes N    starts no search after this time; default 30
  --seed N       seed of the first round, from 0 to ${MOST_SEED - 1}; default a fresh one, which is printed
  --only NAMES   searches to run, separated by commas: ${Object.keys(SEARCHES).join(', ')}

Exit codes: 0 no search failed, 1 a search failed (its command is printed), 2 wrong usage.`;

/** @throws Error that says what is wrong with the arguments */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '30' },
      seed: { type: 'string', default: String(randomInt(MOST_SEED)) },
      only: { type: 'string', default: Object.keys(SEARCHES).join(',') },
      help: { type: 'boolean', default: false },
    },
  });
  const names = values.only.split(',').filter(Boolean);
  const unknown = names.find((name) => !Object.hasOwn(SEARCHES, name));
  if (unknown !== undefined || names.length === 0) throw new Error(`There is no search ${unknown ?? 'to run'}.`);
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error('--minutes must be a number above 0.');
  const seed = Number(values.seed);
  if (!Number.isInteger(seed) || seed < 0 || seed >= MOST_SEED || values.seed === '')
    throw new Error(`--seed must be a whole number from 0 to ${MOST_SEED - 1}.`);
  return { names, minutes, seed, help: values.help };
}

function passes(name, seed) {
  const { specs, sizes } = SEARCHES[name];
  const seeds = Object.fromEntries(SEEDS.map((variable) => [variable, seed]));
  const env = { ...sizes, ...process.env, ...seeds };
  return (
    spawnSync(process.execPath, [join(root, 'tools/run-tests.mjs'), ...specs], { env, stdio: 'inherit' }).status === 0
  );
}

function search({ names, minutes, seed: first }) {
  const endMs = Date.now() + minutes * 60_000;
  let count = 0;
  for (let seed = first; ; seed = (seed + 1) % MOST_SEED) {
    for (const name of names) {
      if (Date.now() >= endMs) return report(`${count} searches from seed ${first} found nothing`, 0);
      report(`== ${name}, seed ${seed}`);
      if (!passes(name, seed)) return report(`✗ npm run soak -- --only ${name} --seed ${seed}`, 1);
      count += 1;
    }
  }
}

function report(line, code) {
  process.stdout.write(`${line}\n`);
  return code;
}

function main(args) {
  let options;
  try {
    options = readOptions(args);
  } catch (error) {
    return report(`${error.message}\n\n${HELP}`, 2);
  }
  return options.help ? report(HELP, 0) : search(options);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
