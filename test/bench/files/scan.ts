import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Test } from '@nestjs/testing';
import { InProcessBus } from '@workspace-graph/bus';
import { createLogger, OperationsModule } from '@workspace-graph/platform';
import type { DeviceParts } from '../../../libs/device/src/device-parts.js';
import { residentMB } from '../memory.js';
import { keepRecords, type RecordKeeper, serveDevice } from './record-keeper.js';

export interface ScanOptions {
  readonly files: number;
  readonly edits: number;
  readonly seed: number;
  readonly records: 'memory' | 'postgres';
}

/** How long something took, and how long it kept processors busy: those of all threads, or of a command. */
export interface Took {
  readonly ms: number;
  readonly cpuMs: number;
}

export interface ScanFigures {
  readonly files: number;
  readonly megabytes: number;
  readonly firstScan: Took;
  readonly hash: Took;
  readonly secondScan: Took;
  readonly find: Took;
  readonly editP50Ms: number;
  readonly editP99Ms: number;
  readonly residentMB: { readonly idle: number; readonly scanned: number };
  readonly load: readonly number[];
}

const FILES_PER_FOLDER = 50;

/** Scans a tree of files beside find and sha256sum on the same tree, and times edits until they are registered. */
export async function measureScan(options: ScanOptions): Promise<ScanFigures> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'svc-bench-scan-')));
  try {
    const records = await keepRecords(options.records);
    try {
      return await measure(root, records, options);
    } finally {
      await records.close();
    }
  } finally {
    await rm(root, { recursive: true });
  }
}

async function measure(root: string, records: RecordKeeper, { files, edits, seed }: ScanOptions): Promise<ScanFigures> {
  const mirror = join(root, 'node');
  const bytes = writeTree(mirror, files, seed);
  const hash = best(() => shell(mirror, 'find . -type f -print0 | xargs -0 sha256sum'));
  const find = best(() => shell(mirror, `find . -type f -printf '%s %T@ %i\\n'`));
  const device = await openDevice(root, mirror, records, false);
  const idle = memory();
  const firstScan = await timed(() => device.scan());
  await device.close();
  const again = await openDevice(root, mirror, records, false);
  await again.scan();
  const secondScan = quickest([await timed(() => again.scan()), await timed(() => again.scan())]);
  const scanned = memory();
  await again.close();
  const watching = await openDevice(root, mirror, records, true);
  const editMs = await timeEdits(watching, mirror, edits);
  await watching.close();
  return {
    files,
    megabytes: Math.round(bytes / 1e6),
    firstScan,
    hash,
    secondScan,
    find,
    editP50Ms: Math.round(editMs[Math.floor(editMs.length / 2)] ?? 0),
    editP99Ms: Math.round(editMs[Math.floor(editMs.length * 0.99)] ?? 0),
    residentMB: { idle, scanned },
    load: loadavg(),
  };
}

async function timeEdits(device: Device, mirror: string, edits: number): Promise<number[]> {
  await device.watched();
  const times: number[] = [];
  for (let edit = 0; edit < edits; edit += 1) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = device.parts.files.onChange(() => resolve());
    const edited = await timed(async () => {
      writeFileSync(join(mirror, 'wip/0/0.md'), `edit ${edit} ${Math.random()}`);
      await promise;
    });
    times.push(edited.ms);
    end();
    await delay(50);
  }
  return times.toSorted((a, b) => a - b);
}

interface Device {
  readonly parts: DeviceParts;
  scan(): Promise<unknown>;
  watched(): Promise<void>;
  close(): Promise<void>;
}

async function openDevice(root: string, mirror: string, records: RecordKeeper, watch: boolean): Promise<Device> {
  const { DeviceModule } = await built<typeof import('../../../libs/device/src/device.module.js')>('device.module.js');
  const { DEVICE_PARTS } = await built<typeof import('../../../libs/device/src/device-parts.js')>('device-parts.js');
  const { Scanner } = await built<typeof import('../../../libs/device/src/scan/scanner.js')>('scan/scanner.js');
  const { Watcher } = await built<typeof import('../../../libs/device/src/watcher/watcher.js')>('watcher/watcher.js');
  const own = join(root, '.svc');
  await mkdir(own, { recursive: true });
  const logger = createLogger({ process: 'bench', level: 'error' });
  const bus = new InProcessBus({ logger });
  await bus.serve('file', records.operations, records.dispatch);
  await serveDevice(bus, records.device);
  const settings = {
    root,
    own,
    watch,
    debounceMs: 300,
    failuresPerNode: 50,
    trashDays: 30,
    identity: () => records.device,
    mcpUrl: () => 'http://127.0.0.1/mcp',
  };
  const application = await Test.createTestingModule({
    imports: [OperationsModule, DeviceModule.forRoot({ settings, bus, logger })],
  }).compile();
  const parts = application.get<DeviceParts>(DEVICE_PARTS);
  const { dev, ino } = statSync(mirror, { bigint: true });
  const { nodeId } = records;
  if (!parts.store.mirror(nodeId))
    parts.store.putMirror({
      nodeId,
      path: mirror,
      identity: `${dev}:${ino}`,
      scannedAt: null,
      createdAt: new Date().toISOString(),
    });
  await application.init();
  return {
    parts,
    scan: () => application.get(Scanner).reconcile(nodeId, 'all'),
    watched: async () => {
      while (!application.get(Watcher).isWatching(nodeId) || application.get(Scanner).progressOf(nodeId).running)
        await delay(20);
      await delay(2_000);
    },
    close: async () => {
      await application.close();
      await bus.close();
    },
  };
}

/** Sizes like those of documents: many small ones, 27 KB on average. @returns bytes written */
function writeTree(mirror: string, files: number, seed: number): number {
  let state = seed + 1;
  let bytes = 0;
  const content = Buffer.alloc(1_048_576);
  for (let at = 0; at < content.length; at += 4) {
    state = (state * 48_271) % 2_147_483_647;
    content.writeUInt32LE(state, at);
  }
  for (let file = 0; file < files; file += 1) {
    const folder = join(mirror, 'wip', `${Math.floor(file / FILES_PER_FOLDER)}`);
    if (file % FILES_PER_FOLDER === 0) mkdirSync(folder, { recursive: true });
    state = (state * 48_271) % 2_147_483_647;
    const size = 1_000 + (state % 52_000);
    writeFileSync(
      join(folder, `${file % FILES_PER_FOLDER}.md`),
      content.subarray(state % 900_000, (state % 900_000) + size),
    );
    bytes += size;
  }
  return bytes;
}

/** The second of two runs has what the first one brought into memory. */
function best(work: () => Took): Took {
  return quickest([work(), work()]);
}

function quickest(runs: readonly Took[]): Took {
  return runs.reduce((a, b) => (b.ms < a.ms ? b : a));
}

/** The shell tells at its end what its commands kept processors busy. */
function shell(cwd: string, command: string): Took {
  const startMs = performance.now();
  const times = execFileSync('sh', ['-c', `${command} > /dev/null; times`], { cwd, encoding: 'utf8' });
  const ofCommands = times.trim().split('\n').at(-1) ?? '';
  const spent = [...ofCommands.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  return took(performance.now() - startMs, spent.reduce((a, b) => a + b, 0) * 1_000);
}

async function timed(work: () => Promise<unknown>): Promise<Took> {
  const startMs = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return took(performance.now() - startMs, (user + system) / 1_000);
}

function took(ms: number, cpuMs: number): Took {
  return { ms: Math.round(ms), cpuMs: Math.round(cpuMs) };
}

function memory(): number {
  return Math.round(residentMB([{ name: 'device', pid: process.pid }]).get('device') ?? 0);
}

/** What was built: this is what people run. */
async function built<Module>(file: string): Promise<Module> {
  return (await import(new URL(`../../../libs/device/dist/${file}`, import.meta.url).href)) as Module;
}
