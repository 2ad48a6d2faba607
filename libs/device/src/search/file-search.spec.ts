import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Caller, type FileHit, LIMITS, searchFiles } from '@workspace-graph/contracts';
import { locate, readContent } from '@workspace-graph/disk';
import fc from 'fast-check';
import { Mirrors } from '../mirrors/mirrors.js';
import type { FileDelta } from '../records/file-delta.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { docxOf, pdfOf } from '../testing/document-files.js';
import { FileIndexer } from './file-indexer.js';

let device: DeviceFixture;
beforeAll(async () => {
  device = await startDevice();
});
/** The next test begins with an empty index: starting threads anew takes longer than everything else. */
afterEach(async () => {
  const mirrors = device.module.get(Mirrors);
  for (const row of mirrors.all()) mirrors.remove(row);
  await indexed();
});
afterAll(() => device.close());

const options = { action: 'scan', asker: null, strict: true };

interface Folder {
  readonly nodeId: string;
  readonly path: string;
}

async function apply({ nodeId }: Folder, ...deltas: FileDelta[]): Promise<void> {
  await device.parts.files.apply(nodeId, deltas, options);
}

async function seenAt(folder: Folder, path: string) {
  return readContent(await locate(folder.path, path));
}

let clockSeconds = 1_700_000_000;

/** Writes files, each a second newer than the one before, and registers them, as the watcher does. */
async function register(folder: Folder, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  const deltas = Object.entries(files).map(async ([path, content]): Promise<FileDelta> => {
    const changedAt = ++clockSeconds;
    await writeFile(join(folder.path, path), content);
    await utimes(join(folder.path, path), changedAt, changedAt);
    return { kind: 'register', path, seen: await seenAt(folder, path) };
  });
  await apply(folder, ...(await Promise.all(deltas)));
}

/** The same, until they can be found. */
async function track(folder: Folder, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  await register(folder, files);
  await indexed();
}

function indexed(): Promise<void> {
  return device.module.get(FileIndexer).whenIdle();
}

function stateOf({ nodeId }: Folder, path: string) {
  const file = device.parts.store.fileAt(nodeId, path);
  if (!file) throw new Error(`${path} is not tracked`);
  return file;
}

async function hitsOf(
  query: string,
  input: { node_id?: string; limit?: number } = {},
  as?: Caller,
): Promise<FileHit[]> {
  return (await device.call(searchFiles, { query, ...input }, as)).hits;
}

async function pathsOf(query: string, input: { node_id?: string } = {}): Promise<string[]> {
  return (await hitsOf(query, input)).map(({ path }) => path);
}

describe('searching in files', () => {
  it('finds whole words and phrases of names and texts, with case and diacritics folded [files.search.words-and-phrases]', async () => {
    const folder = await device.mirror('Alpha');
    await track(folder, {
      'wip/zapis z porady.md': 'Příliš žluťoučký kůň úpěl ďábelské ódy.',
      'wip/smlouva.docx': docxOf(['Dodavatel dodá dílo do 30. čer|vna.']),
      'outputs/zprava.pdf': pdfOf(['Roční zpráva o hospodaření', 'Łódź a Straße']),
    });
    expect(await pathsOf('KUN zlutoucky')).toEqual(['wip/zapis z porady.md']);
    expect(await pathsOf('žluťoučký')).toEqual(['wip/zapis z porady.md']);
    expect(await pathsOf('porady')).toEqual(['wip/zapis z porady.md']);
    expect(await pathsOf('porady kůň')).toEqual(['wip/zapis z porady.md']);
    expect(await pathsOf('cervna')).toEqual(['wip/smlouva.docx']);
    expect(await pathsOf('lodz strasse')).toEqual(['outputs/zprava.pdf']);
    expect(await pathsOf('"roční zpráva"')).toEqual(['outputs/zprava.pdf']);
    expect(await pathsOf('"zpráva roční"')).toEqual([]);
    expect(await pathsOf('žluť')).toEqual([]);
    expect(await pathsOf('žluť*')).toEqual([]);
    expect(await pathsOf('kůň NOT ódy')).toEqual([]);
  });

  it('answers each hit with its node and a bounded snippet of the original text [files.search.registered-only] [files.search.snippet-capped]', async () => {
    const folder = await device.mirror('Alpha');
    const filler = 'a '.repeat(40_000);
    await track(folder, {
      'wip/a.md': `${filler}Kde je ten Kůň,\nptal se. ${filler}`,
      'wip/b.md': 'kůň '.repeat(500),
      'wip/kun.bin': new Uint8Array([0, 1, 2]),
    });
    await writeFile(join(folder.path, 'wip/stray.md'), 'kůň');
    const hits = await hitsOf('kun');
    const byPath = new Map(hits.map((hit) => [hit.path, hit]));
    expect([...byPath.keys()].sort()).toEqual(['wip/a.md', 'wip/b.md', 'wip/kun.bin']);
    expect(hits[0]).toEqual({
      file_id: stateOf(folder, 'wip/kun.bin').fileId,
      node_id: folder.nodeId,
      node_name: 'Alpha',
      node_type: 'project',
      filename: 'kun.bin',
      path: 'wip/kun.bin',
      mime_type: 'application/octet-stream',
      modified_at: expect.stringMatching(/Z$/),
      snippet: null,
    });
    expect(byPath.get('wip/a.md')?.snippet).toContain('Kde je ten «Kůň», ptal se.');
    for (const { snippet } of hits) expect((snippet ?? '').length).toBeLessThanOrEqual(LIMITS.fileSnippetLength);
    expect(byPath.get('wip/b.md')?.snippet).toMatch(/^«kůň» .*…$/);
  });

  it('puts names first, then words that stand together, then what changed last, and tells when there is more [limits.search-files]', async () => {
    const folder = await device.mirror('Alpha');
    const apart = `plán ${'x '.repeat(50)} rozpočet`;
    const files = Array.from(
      { length: 25 },
      (_, index) => [`wip/f${String(index).padStart(2, '0')}.md`, apart] as const,
    );
    await track(folder, Object.fromEntries(files));
    await track(folder, { 'wip/near.md': 'plán a rozpočet', 'wip/Plán-rozpočet.txt': 'nic' });
    await track(folder, { 'wip/last.md': apart });
    const first = await device.call(searchFiles, { query: 'rozpocet plan' });
    expect(first.hits.map(({ filename }) => filename).slice(0, 5)).toEqual([
      'Plán-rozpočet.txt',
      'near.md',
      'last.md',
      'f24.md',
      'f23.md',
    ]);
    expect(first).toMatchObject({ complete: false, indexing: 0 });
    expect(first.hits).toHaveLength(20);
    const all = await device.call(searchFiles, { query: 'rozpocet plan', limit: 50 });
    expect([all.hits.length, all.complete]).toEqual([28, true]);
    await device.refusal(searchFiles, { query: 'plan', limit: 51 }, 'VALIDATION_FAILED');
  });

  it('refuses a query without a word, and takes everything else for words', async () => {
    const folder = await device.mirror('Alpha');
    await track(folder, { 'wip/a.md': 'and or not near text' });
    for (const query of ['', '   ', '"', '*', '"" ()', '😀'])
      await device.refusal(searchFiles, { query }, 'VALIDATION_FAILED');
    expect(await pathsOf('text AND NOT')).toEqual(['wip/a.md']);
    expect(
      await pathsOf(Array.from({ length: 250 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join(' ')),
    ).toEqual([]);
    const syntax = fc.constantFrom(
      'AND',
      'NEAR(',
      ')',
      '"',
      '*',
      '^',
      ':',
      'name:',
      '{name body}',
      '+',
      '-',
      "'",
      ';--',
      '\\',
      'text',
      '\0',
      'ﷺ',
    );
    const query = fc.oneof(
      fc.array(syntax, { maxLength: 12 }).map((parts) => parts.join(' ')),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
    );
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const answer = await device.call(searchFiles, { query: text }).catch((error: { code: string }) => error.code);
        expect(answer === 'VALIDATION_FAILED' || Array.isArray((answer as { hits: unknown }).hits)).toBe(true);
      }),
      { numRuns: Number(process.env['SVC_SEARCH_RUNS'] ?? 150) },
    );
  });

  it('follows edits, moves, renames, deletions and mirrors that go', async () => {
    const folder = await device.mirror('Alpha');
    const other = await device.mirror('Beta');
    await track(folder, { 'wip/a.md': 'staré znění', 'wip/b.md': 'druhý text' });
    await writeFile(join(folder.path, 'wip/a.md'), 'nové znění');
    await apply(folder, { kind: 'update', file: stateOf(folder, 'wip/a.md'), seen: await seenAt(folder, 'wip/a.md') });
    await indexed();
    expect([await pathsOf('staré'), await pathsOf('nove')]).toEqual([[], ['wip/a.md']]);

    await rename(join(folder.path, 'wip/a.md'), join(other.path, 'outputs/Nový název.md'));
    await apply(folder, {
      kind: 'move',
      file: stateOf(folder, 'wip/a.md'),
      path: 'outputs/Nový název.md',
      toNodeId: other.nodeId,
      seen: await seenAt(other, 'outputs/Nový název.md'),
    });
    await indexed();
    expect(await pathsOf('nazev zneni', { node_id: other.nodeId })).toEqual(['outputs/Nový název.md']);
    expect(await pathsOf('zneni', { node_id: folder.nodeId })).toEqual([]);

    await rm(join(folder.path, 'wip/b.md'));
    await apply(folder, { kind: 'remove', file: stateOf(folder, 'wip/b.md'), tombstone: false });
    await indexed();
    expect(await pathsOf('druhy')).toEqual([]);
    device.parts.store.removeMirror(other.nodeId);
    expect(await pathsOf('zneni')).toEqual([]);
  });

  it('reads at the start only what changed while it was off', async () => {
    const folder = await device.mirror('Alpha');
    await track(folder, { 'wip/a.md': 'alfa', 'wip/b.md': 'beta', 'wip/c.md': 'gama' });
    const { parts } = device;
    const [a, b] = [stateOf(folder, 'wip/a.md'), stateOf(folder, 'wip/b.md')];
    await device.module.get(FileIndexer).beforeApplicationShutdown();
    await writeFile(join(folder.path, 'wip/b.md'), 'delta');
    await rm(join(folder.path, 'wip/c.md'));
    // On disk, but not as the registry knows it: nobody reads it, for its hash is the known one.
    await writeFile(join(folder.path, 'wip/a.md'), 'epsilon');
    parts.store.changeFiles({
      put: [a, { ...b, sha256: (await seenAt(folder, 'wip/b.md')).sha256 }],
      remove: [stateOf(folder, 'wip/c.md').fileId],
    });
    device = await device.restart();
    await indexed();
    expect([await pathsOf('alfa'), await pathsOf('delta')]).toEqual([['wip/a.md'], ['wip/b.md']]);
    expect([await pathsOf('beta'), await pathsOf('gama'), await pathsOf('epsilon')]).toEqual([[], [], []]);
  });

  it('stops in the middle of reading, and goes on at the next start', async () => {
    const folder = await device.mirror('Alpha');
    const many = Array.from(
      { length: 40 },
      (_, index) => [`wip/${index}.md`, `společné ${'slovo '.repeat(5_000)}`] as const,
    );
    await register(folder, Object.fromEntries(many));
    while ((await device.call(searchFiles, { query: '39' })).hits.length === 0) await setImmediate();
    device = await device.restart();
    await indexed();
    expect(await hitsOf('spolecne', { limit: 50 })).toHaveLength(40);
    expect(device.log.join('')).not.toContain('could not be written');
  });

  it('makes a damaged index anew without telling callers', async () => {
    const folder = await device.mirror('Alpha');
    await track(folder, { 'wip/a.md': 'alfa '.repeat(2_000) });
    await device.module.get(FileIndexer).beforeApplicationShutdown();
    const index = join(device.parts.settings.own, 'search.db');
    for (const suffix of ['-wal', '-shm']) await rm(`${index}${suffix}`, { force: true });
    await writeFile(index, Buffer.alloc(50_000, 7));
    device = await device.restart();
    await indexed();
    expect(await pathsOf('alfa')).toEqual(['wip/a.md']);
  });

  it('is limited to what the caller sees, and to no scope [files.search.permission-only]', async () => {
    const [open, hidden] = [await device.mirror('Alpha'), await device.mirror('Secret')];
    const member = device.caller('read');
    const node = device.records.nodes.get(hidden.nodeId);
    if (!node) throw new Error('the node was just added');
    device.records.nodes.set(hidden.nodeId, { ...node, seenBy: new Set() });
    const answers = async (): Promise<unknown[]> => [
      await device.call(searchFiles, { query: 'plan', limit: 3 }, member),
      await device.call(searchFiles, { query: 'plan rozpocet', limit: 50 }, member),
      await device.call(searchFiles, { query: 'plan', node_id: open.nodeId }, member),
      await device
        .refusal(searchFiles, { query: 'plan', node_id: hidden.nodeId }, 'NODE_NOT_FOUND', member)
        .then(({ message }) => message),
    ];
    for (const name of ['a', 'b', 'c', 'd']) await track(open, { [`wip/${name}.md`]: `plán ${name} rozpočet` });
    const before = await answers();
    const many = Array.from({ length: 220 }, (_, index) => [`wip/plan rozpocet ${index}.md`, 'plán'] as const);
    await track(hidden, Object.fromEntries(many));
    expect(await answers()).toEqual(before);
    expect(await hitsOf('plan', { limit: 50 })).toHaveLength(50);
    // Files that wait are counted for those who see them.
    device.parts.store.changeFiles({ put: [{ ...stateOf(hidden, 'wip/plan rozpocet 0.md'), sha256: '0'.repeat(64) }] });
    device = await device.restart();
    const waiting = await device.call(searchFiles, { query: 'plan' });
    const waitingForMember = await device.call(searchFiles, { query: 'plan' }, member);
    expect(waiting.indexing).toBeGreaterThanOrEqual(waitingForMember.indexing + 220);
    await indexed();
    expect(await answers()).toEqual(before);
  });
});
