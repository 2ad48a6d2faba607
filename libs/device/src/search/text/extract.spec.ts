import { createHash } from 'node:crypto';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docxOf, odfOf, pdfOf, pptxOf, xlsxOf, zipOf } from '../../testing/document-files.js';
import { extract } from './extract.js';
import { EXTRACTION, type Extraction } from './extraction.js';
import { unpackText } from './packed-text.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-extract-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function extracted(filename: string, content: string | Uint8Array): Promise<Extraction> {
  const path = join(folder, filename);
  await writeFile(path, content);
  return extract({ handle: await open(path), filename });
}

/** Lines of text that was found. */
async function lines(filename: string, content: string | Uint8Array): Promise<string[]> {
  const { text, problem } = await extracted(filename, content);
  if (!text) throw new Error(`no text: ${problem}`);
  return unpackText(text)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

describe('the text of files', () => {
  it('comes with the hash of what was read, and folded for the index', async () => {
    const { state, sha256, words } = await extracted('plan.md', 'Příliš žluťoučký KŮŇ, Łódź, Straße');
    expect({ state, sha256, words: new TextDecoder().decode(words ?? undefined) }).toEqual({
      state: 'done',
      sha256: createHash('sha256').update('Příliš žluťoučký KŮŇ, Łódź, Straße').digest('hex'),
      words: 'prilis zlutoucky kun, lodz, strasse',
    });
  });

  it('is found in documents of Word, Excel, PowerPoint, OpenDocument and in PDF', async () => {
    expect(await lines('a.docx', docxOf(['Smlou|va o dílo', 'Druhý & třetí']))).toEqual([
      'Smlouva o dílo',
      'Druhý & třetí',
    ]);
    expect(await lines('a.xlsx', xlsxOf('Náklady', ['Říjen', 'Listopad'], [4711.5]))).toEqual([
      'Náklady',
      'Říjen',
      'Listopad',
      '4711.5',
    ]);
    expect(await lines('a.pptx', pptxOf(['První snímek', 'Závěr']))).toEqual(['První snímek', 'Závěr']);
    expect(await lines('a.odt', odfOf(['Zápis z porady', 'Úkoly']))).toEqual(['Zápis z porady', 'Úkoly']);
    expect(await lines('a.pdf', pdfOf(['Výroční zpráva', 'Příloha č. 1']))).toEqual(['Výroční zpráva', 'Příloha č. 1']);
  });

  it('is what a reader of an HTML page sees, words of blocks apart', async () => {
    const page =
      '<title>Úvod</title><style>p{}</style><script>skryto()</script><p>Ná<b>kup</b></p><td>A</td><td>B &eacute;</td>';
    expect(await lines('a.html', page)).toEqual(['Úvod', 'Nákup', 'A', 'B é']);
    const declared = Buffer.concat([Buffer.from('<meta charset="iso-8859-2"><p>'), Buffer.from([0xb9, 0xe8])]);
    expect(await lines('b.html', declared)).toEqual(['šč']);
  });

  it('is read in UTF-8, UTF-16 and Windows-1250', async () => {
    expect(await lines('a.txt', '\ufeffžluť')).toEqual(['žluť']);
    expect(await lines('b.txt', Buffer.from('\ufeffžluť', 'utf16le'))).toEqual(['žluť']);
    expect(await lines('c.txt', Buffer.from('\ufeffžluť', 'utf16le').swap16())).toEqual(['žluť']);
    expect(await lines('d.csv', Buffer.from([0x9e, 0x6c, 0x75, 0x9d]))).toEqual(['žluť']);
  });

  it('is none for other bytes, and their name decides nothing', async () => {
    const states = await Promise.all([
      extracted('photo.md', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13])),
      extracted('noise.txt', Buffer.from(Array.from({ length: 500 }, (_, index) => (index % 30) + 1))),
      extracted('other.docx', zipOf({ 'readme.txt': 'text' })),
    ]);
    expect(states.map(({ state, text }) => [state, text])).toEqual([
      ['none', null],
      ['none', null],
      ['none', null],
    ]);
    expect((await extracted('empty.md', '')).state).toBe('done');
  });

  it('fails for damaged and encrypted documents with a reason and the hash', async () => {
    for (const [name, bytes] of [
      ['half.docx', docxOf(['text'.repeat(100)]).subarray(0, 300)],
      ['half.pdf', Buffer.from('%PDF-1.4\nnothing of the kind')],
    ] as const) {
      const { state, problem, sha256 } = await extracted(name, bytes);
      expect({ state, sha256 }).toEqual({ state: 'failed', sha256: createHash('sha256').update(bytes).digest('hex') });
      expect(problem).toMatch(/\w/);
    }
  });

  it('is cut at the limit, and a bundle that unpacks to far more than it should is given up', async () => {
    const long = await extracted('long.txt', 'slovo '.repeat(EXTRACTION.textLength / 5));
    expect(unpackText(long.text ?? new Uint8Array())).toHaveLength(EXTRACTION.textLength);
    const bomb = zipOf({ 'content.xml': `<a>${' '.repeat(EXTRACTION.unpackedBytes)}</a>` });
    expect(bomb.length).toBeLessThan(1_000_000);
    expect(await extracted('bomb.odt', bomb)).toMatchObject({ state: 'failed', text: null });
  });
});
