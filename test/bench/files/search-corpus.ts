import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Different words of the texts; rank decides how often one is used, as in real texts. */
const VOCABULARY = 20_000;
const SYLLABLES = 'ka ro ni vé tu há sle pra mo ží dů lo ce ši bě no zra ty ří po sta ne ma chy vý li'.split(' ');
const MEAN_WORDS = 900;

/** Texts that are the same for the same seed. */
export class SearchCorpus {
  readonly words: readonly string[];
  private state: number;

  constructor(seed: number) {
    this.state = seed;
    this.words = Array.from({ length: VOCABULARY }, (_, rank) => this.newWord(rank));
  }

  /** Paragraphs of sentences, between a tenth and the fivefold of the mean length. */
  text(): string {
    let text = `# ${this.sentence()}\n\n`;
    const length = Math.round(MEAN_WORDS * (0.1 + 4.9 * this.random() ** 4));
    for (let count = 0; count < length; count += 12) text += `${this.sentence()}${this.random() < 0.15 ? '\n\n' : ' '}`;
    return text;
  }

  /** A word of about the given frequency rank. */
  wordOfRank(rank: number): string {
    return this.words[Math.min(rank, VOCABULARY - 1)] ?? '';
  }

  random(): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.state / 2 ** 32;
  }

  private sentence(): string {
    const words = Array.from({ length: 12 }, () => this.wordOfRank(Math.floor(VOCABULARY ** this.random()) - 1));
    const [first = '', ...rest] = words;
    return `${first.charAt(0).toUpperCase()}${first.slice(1)} ${rest.join(' ')}.`;
  }

  private newWord(rank: number): string {
    const length = 1 + Math.floor(this.random() * 3);
    const syllables = Array.from({ length }, () => SYLLABLES[Math.floor(this.random() * SYLLABLES.length)]);
    return `${syllables.join('')}${rank < 100 ? '' : (SYLLABLES[rank % SYLLABLES.length] ?? '')}${rank < 2_000 ? '' : 'ck'}`;
  }
}

/** Writes documents into folders of nodes, with real ones first when an archive of them is there. Answers how many each folder has. */
export async function writeCorpus(
  folders: readonly string[],
  {
    corpus,
    documents,
    archive,
  }: { readonly corpus: SearchCorpus; readonly documents: number; readonly archive: string },
): Promise<number> {
  let written = 0;
  const [first] = folders;
  if (first !== undefined && existsSync(archive)) {
    await mkdir(join(first, 'resources'), { recursive: true });
    await run('tar', ['-xzf', archive, '-C', join(first, 'resources')]);
    const entries = await readdir(join(first, 'resources'), { recursive: true, withFileTypes: true });
    written = entries.filter((entry) => entry.isFile()).length;
  }
  for (; written < documents; written += 1) {
    const name = `${corpus.wordOfRank(Math.floor(corpus.random() * 5_000))} ${written}.md`;
    const path = join(folders[written % folders.length] ?? '', 'wip', `part ${written % 20}`, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, corpus.text());
  }
  return written;
}
