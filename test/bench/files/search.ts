import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Test } from '@nestjs/testing';
import { InProcessBus } from '@workspace-graph/bus';
import { type Envelope, type OutputOf, SECTIONS, searchFiles } from '@workspace-graph/contracts';
import { createLogger, OperationRegistry, OperationsModule, SERVED_BY_REGISTRY } from '@workspace-graph/platform';
import type { DeviceParts } from '../../../libs/device/src/device-parts.js';
import { residentMB } from '../memory.js';
import { newDevice, serveDevice } from './record-keeper.js';
import { SearchCorpus, writeCorpus } from './search-corpus.js';

export interface FileSearchOptions {
  readonly documents: number;
  readonly searches: number;
  readonly seed: number;
  /** Archive of real files, taken when it is there. */
  readonly archive: string;
  /** How long nothing happens before memory is told a last time. */
  readonly restMs: number;
}

export interface FileSearchFigures {
  readonly documents: number;
  readonly megabytes: number;
  /** From the registration of the last file until all are searchable. */
  readonly indexSeconds: number;
  /** For which processors were busy meanwhile. */
  readonly indexCpuSeconds: number;
  readonly indexMegabytes: number;
  /** Longest time for which the main thread did nothing else, while the index was built. */
  readonly longestBlockMs: number;
  readonly residentMB: {
    readonly before: number;
    readonly peak: number;
    readonly built: number;
    readonly resting: number;
  };
  readonly searchP50Ms: number;
  readonly searchP99Ms: number;
  readonly grepP50Ms: number;
  /** Hits of all searches, and files that grep found for the same words. */
  readonly hits: number;
  readonly grepFiles: number;
}

const NODES = 35;
const GREPS = 15;
const CALLER: Envelope = {
  callId: randomUUID(),
  requestId: randomUUID(),
  caller: { user_id: randomUUID(), scope: 'manage', credential_id: null, via: 'rest' },
};

/** Builds the index of a tree of documents and searches it, beside grep on the same tree. Records are kept in memory. */
export async function measureFileSearch(options: FileSearchOptions): Promise<FileSearchFigures> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'svc-bench-search-')));
  try {
    const device = await openDevice(root);
    try {
      return await measure(device, options);
    } finally {
      await device.close();
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** What was built is measured: its modules hold TypeScript that Node does not run as it is. */
async function built<T>(module: string): Promise<T> {
  return (await import(new URL(`../../../libs/device/dist/${module}`, import.meta.url).href)) as T;
}

interface OpenDevice {
  readonly root: string;
  readonly parts: DeviceParts;
  readonly folders: ReadonlyMap<string, string>;
  /** Registers all files. */
  track(): Promise<void>;
  indexed(): Promise<void>;
  search(query: string): Promise<OutputOf<typeof searchFiles>>;
  close(): Promise<void>;
}

async function openDevice(root: string): Promise<OpenDevice> {
  const { DeviceModule } = await built<typeof import('../../../libs/device/src/device.module.js')>('device.module.js');
  const { DEVICE_PARTS } = await built<typeof import('../../../libs/device/src/device-parts.js')>('device-parts.js');
  const { MemoryFileService } = await built<typeof import('../../../libs/device/src/testing/memory-file-service.js')>(
    'testing/memory-file-service.js',
  );
  const { FileIndexer } =
    await built<typeof import('../../../libs/device/src/search/file-indexer.js')>('search/file-indexer.js');
  const { Scanner } = await built<typeof import('../../../libs/device/src/scan/scanner.js')>('scan/scanner.js');
  const own = join(root, '.svc');
  await mkdir(own, { recursive: true });
  const logger = createLogger({ process: 'bench', level: 'error' });
  const bus = new InProcessBus({ logger });
  const records = new MemoryFileService();
  await bus.serve('file', MemoryFileService.operations, records.dispatch);
  const device = newDevice();
  await serveDevice(bus, device);
  const settings = {
    root,
    own,
    watch: false,
    debounceMs: 300,
    failuresPerNode: 50,
    trashDays: 30,
    identity: () => device,
    mcpUrl: () => 'http://127.0.0.1/mcp',
  };
  const module = await Test.createTestingModule({
    imports: [OperationsModule, DeviceModule.forRoot({ settings, bus, logger })],
  }).compile();
  const application = module.createNestMicroservice(SERVED_BY_REGISTRY);
  const registry = application.get(OperationRegistry);
  registry.allowPartial = true;
  await application.listen();
  const parts = application.get<DeviceParts>(DEVICE_PARTS);
  const folders = new Map<string, string>();
  for (let index = 0; index < NODES; index += 1) {
    const nodeId = records.node({ name: `node-${index}` });
    const path = join(root, `node-${index}`);
    for (const section of SECTIONS) await mkdir(join(path, section), { recursive: true });
    const { dev, ino } = await stat(path, { bigint: true });
    parts.store.putMirror({
      nodeId,
      path,
      identity: `${dev}:${ino}`,
      scannedAt: null,
      createdAt: '2026-01-01T00:00:00.000Z',
    });
    folders.set(nodeId, path);
  }
  return {
    root,
    parts,
    folders,
    track: async () => {
      await Promise.all([...folders.keys()].map((nodeId) => application.get(Scanner).reconcile(nodeId, 'all')));
    },
    indexed: () => application.get(FileIndexer).whenIdle(),
    search: async (query) =>
      (await registry.dispatch(
        searchFiles,
        { query },
        { envelope: CALLER, signal: new AbortController().signal },
      )) as OutputOf<typeof searchFiles>,
    close: async () => {
      await application.close();
      await bus.close();
    },
  };
}

async function measure(device: OpenDevice, options: FileSearchOptions): Promise<FileSearchFigures> {
  const corpus = new SearchCorpus(options.seed);
  const { documents: wanted, archive } = options;
  const documents = await writeCorpus([...device.folders.values()], { corpus, documents: wanted, archive });
  const before = resident();
  await device.track();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const startedMs = performance.now();
  const busy = process.cpuUsage();
  const peak = new PeakMemory();
  await device.indexed();
  const indexSeconds = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage(busy);
  delay.disable();
  const builtMB = resident();
  const peakMB = peak.end();
  const searched = await searchAll(device, corpus, options.searches);
  const grepped = await grepAll(device.root, searched.queries.filter((query) => !query.includes(' ')).slice(0, GREPS));
  await new Promise((resolve) => setTimeout(resolve, options.restMs));
  return {
    documents,
    megabytes: await sizeMB(device.root),
    indexSeconds,
    indexCpuSeconds: (user + system) / 1e6,
    indexMegabytes: (await stat(join(device.root, '.svc', 'search.db'))).size / 2 ** 20,
    longestBlockMs: delay.max / 1e6,
    residentMB: { before, peak: peakMB, built: builtMB, resting: resident() },
    searchP50Ms: percentile(searched.tookMs, 0.5),
    searchP99Ms: percentile(searched.tookMs, 0.99),
    grepP50Ms: percentile(grepped.tookMs, 0.5),
    hits: searched.hits,
    grepFiles: grepped.files,
  };
}

/** Words of every frequency, pairs of them and phrases. */
async function searchAll(device: OpenDevice, corpus: SearchCorpus, count: number) {
  const tookMs: number[] = [];
  const queries: string[] = [];
  let hits = 0;
  for (let index = 0; index < count; index += 1) {
    const word = (): string => corpus.wordOfRank(Math.floor(5_000 ** corpus.random()) - 1);
    const query = [word(), `${word()} ${word()}`, `"${word()} ${word()}"`][index % 3] ?? '';
    queries.push(query);
    const startedMs = performance.now();
    const answer = await device.search(query);
    tookMs.push(performance.now() - startedMs);
    hits += answer.hits.length;
  }
  return { tookMs, queries, hits };
}

async function grepAll(root: string, words: readonly string[]) {
  const tookMs: number[] = [];
  let files = 0;
  for (const word of words) {
    const startedMs = performance.now();
    files += await grep(root, word);
    tookMs.push(performance.now() - startedMs);
  }
  return { tookMs, files };
}

/** Number of files with the word. */
function grep(root: string, word: string): Promise<number> {
  const args = ['-rilwF', '--include=*.*', '--exclude-dir=.svc', '--', word, root];
  return new Promise((resolve, reject) => {
    execFile('grep', args, { maxBuffer: 2 ** 26 }, (error, stdout) => {
      // 1: no file has it.
      if (error && error.code !== 1) reject(error);
      else resolve(stdout.split('\n').filter(Boolean).length);
    });
  });
}

async function sizeMB(root: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !entry.parentPath.includes('.svc'))
      bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes / 2 ** 20;
}

function resident(): number {
  return residentMB([{ name: 'device', pid: process.pid }]).get('device') ?? process.memoryUsage().rss / 2 ** 20;
}

/** What this process held at most, looked at five times a second. */
class PeakMemory {
  private mostMB = resident();
  private readonly timer = setInterval(() => {
    this.mostMB = Math.max(this.mostMB, process.memoryUsage.rss() / 2 ** 20);
  }, 200);

  end(): number {
    clearInterval(this.timer);
    return this.mostMB;
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
