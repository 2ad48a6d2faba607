import { mkdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '@workspace-graph/contracts';
import { expectAgreement, filesKnown, scannerOf } from '../scan/scanner.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { eventually, watchedMirror } from './watcher.fixture.js';

/** File operations of one run; more in `npm run soak`. */
const STEPS = Number(process.env['SVC_SCAN_STEPS'] ?? 600);
const SEED = Number(process.env['SVC_SCAN_SEED'] ?? 261_122);
const STEPS_PER_ROUND = 60;
const SECTION_NAMES = ['wip', 'outputs', 'resources'];

/** A small generator of numbers that repeats itself from its seed. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** Carries out random operations on a folder and knows what should lie there. */
class Disk {
  /** By path, a name of the file that stays with it while it is only moved. */
  readonly files = new Map<string, string>();
  private made = 0;

  constructor(
    private readonly root: string,
    private readonly below: (limit: number) => number,
  ) {}

  async step(): Promise<void> {
    const operations = [
      this.create,
      this.create,
      this.edit,
      this.remove,
      this.move,
      this.swap,
      this.saveByRename,
      this.moveFolder,
    ];
    await operations[this.below(operations.length)]?.call(this);
  }

  private async create(): Promise<void> {
    const path = this.freePath();
    this.made += 1;
    await this.write(path, `file ${this.made}\n`);
    this.files.set(path, `${this.made}`);
  }

  private async edit(): Promise<void> {
    const path = this.anyFile();
    if (path) await this.write(path, `${await readFile(join(this.root, path), 'utf8')}edit ${this.below(1_000_000)}\n`);
  }

  private async remove(): Promise<void> {
    const path = this.anyFile();
    if (!path) return;
    await unlink(join(this.root, path));
    this.files.delete(path);
  }

  private async move(): Promise<void> {
    const from = this.anyFile();
    if (from) await this.rename(from, this.freePath());
  }

  private async swap(): Promise<void> {
    const [a, b] = [this.anyFile(), this.anyFile()];
    if (!a || !b || a === b) return;
    const between = join(this.root, '.between');
    await rename(join(this.root, a), between);
    await rename(join(this.root, b), join(this.root, a));
    await rename(between, join(this.root, b));
    const [nameA, nameB] = [this.files.get(a) ?? '', this.files.get(b) ?? ''];
    this.files.set(a, nameB).set(b, nameA);
  }

  private async saveByRename(): Promise<void> {
    const path = this.anyFile();
    if (!path) return;
    await this.write(`${path}.tmp`, `${await readFile(join(this.root, path), 'utf8')}saved ${this.below(1_000_000)}\n`);
    await rename(join(this.root, `${path}.tmp`), join(this.root, path));
  }

  private async moveFolder(): Promise<void> {
    const from = dirname(this.anyFile() ?? 'wip/x');
    if (SECTION_NAMES.includes(from)) return;
    const to = `${SECTION_NAMES[this.below(3)]}/moved-${this.made}-${this.below(1_000_000)}`;
    await rename(join(this.root, from), join(this.root, to));
    for (const [path, name] of [...this.files]) {
      if (!path.startsWith(`${from}/`)) continue;
      this.files.delete(path);
      this.files.set(to + path.slice(from.length), name);
    }
  }

  private async rename(from: string, to: string): Promise<void> {
    await mkdir(dirname(join(this.root, to)), { recursive: true });
    await rename(join(this.root, from), join(this.root, to));
    this.files.set(to, this.files.get(from) ?? '');
    this.files.delete(from);
  }

  private async write(path: string, content: string): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true });
    await writeFile(join(this.root, path), content);
  }

  private anyFile(): string | undefined {
    return [...this.files.keys()][this.below(Math.max(1, this.files.size))];
  }

  private freePath(): string {
    for (;;) {
      const folder = ['', 'a/', 'a/b/', 'c/'][this.below(4)];
      const path = `${SECTION_NAMES[this.below(3)]}/${folder}f${this.below(10_000)}.md`;
      if (!this.files.has(path)) return path;
    }
  }
}

const AWAY = new ServiceError('SERVICE_UNAVAILABLE', 'The records are away.');

/** One round of work, while the records come and go and replies are lost. */
async function workWithFaults(device: DeviceFixture, disk: Disk, below: (limit: number) => number): Promise<void> {
  const { failures, lostReplies } = device.records;
  const faults = [
    { oneIn: 25, happens: () => failures.set('apply_file_changes', AWAY) },
    { oneIn: 15, happens: () => lostReplies.add('apply_file_changes') },
    { oneIn: 5, happens: () => failures.clear() },
    { oneIn: 5, happens: () => lostReplies.clear() },
  ];
  for (let each = 0; each < STEPS_PER_ROUND; each += 1) {
    for (const { oneIn, happens } of faults) if (below(oneIn) === 0) happens();
    await disk.step();
    if (below(20) === 0) await delay(below(150));
  }
}

describe('random work on a folder', () => {
  let device: DeviceFixture;
  afterEach(() => device.close());

  it(`ends with database = registry = disk, whatever fails in between; seed ${SEED}, ${STEPS} steps [watcher.catches-up]`, async () => {
    device = await startDevice({ settings: { watch: true, debounceMs: 60 } });
    const { nodeId, path } = await watchedMirror(device, 'Alpha');
    const below = numbersFrom(SEED);
    const disk = new Disk(path, below);
    for (let step = 0; step < STEPS; step += STEPS_PER_ROUND) {
      const isOff = below(3) === 0;
      if (isOff) await device.stop();
      await workWithFaults(device, disk, below);
      device.records.failures.clear();
      device.records.lostReplies.clear();
      if (isOff) device = await device.start();
      await eventually(() => expectAgreement(device, nodeId, path));
      await eventually(() => expect(scannerOf(device).failures.of(nodeId)).toEqual([]));
    }
    expect(Object.keys(filesKnown(device, nodeId).registry)).toEqual([...disk.files.keys()].toSorted());
  }, 600_000);

  it(`keeps the ids of files that were only moved; seed ${SEED} [watcher.move-same-record]`, async () => {
    device = await startDevice();
    const { nodeId, path } = await device.mirror('Alpha');
    const below = numbersFrom(SEED);
    for (let file = 0; file < 40; file += 1) await writeFile(join(path, 'wip', `${file}.md`), `content ${file}`);
    await scannerOf(device).reconcile(nodeId, 'all');
    const idsByContent = () =>
      new Map([...device.parts.store.filesOf(nodeId)].map(({ sha256, fileId }) => [sha256, fileId]));
    const before = idsByContent();
    for (let round = 0; round < STEPS / 60; round += 1) {
      const names = Array.from({ length: 40 }, (_, index) => index).toSorted(() => below(3) - 1);
      const paths = [...device.parts.store.filesOf(nodeId)].map((file) => file.path);
      for (const [index, from] of paths.entries()) await rename(join(path, from), join(path, `.${index}`));
      for (const [index, name] of names.entries())
        await rename(join(path, `.${index}`), join(path, SECTION_NAMES[below(3)] ?? 'wip', `${name}.md`));
      await scannerOf(device).reconcile(nodeId, 'all');
      await expectAgreement(device, nodeId, path);
      expect(idsByContent()).toEqual(before);
    }
    await rm(join(path, 'wip'), { recursive: true });
  });
});
