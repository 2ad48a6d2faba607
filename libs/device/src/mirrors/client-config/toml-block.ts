import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { type Edited, hashOf, type OwnedText } from './owned-text.js';

export type Table = Readonly<Record<string, unknown>>;

const END = '# <<< workspace-graph';
const BLOCK =
  /^# >>> workspace-graph: kept up to date as long as nothing in it is changed \(((?:file|part) [0-9a-f]+)\)\r?\n([\s\S]*?)\r?\n# <<< workspace-graph(?:\r?\n|$)/m;

/** The entries of our name in a parsed file, whoever wrote them, and everything else in it. */
export interface Apart {
  readonly own: readonly unknown[];
  readonly others: Table;
}

/**
 * Our block in a TOML file, at its end, between two comments. The first one tells whether the file is ours altogether
 * and which content we wrote: a block that was changed since belongs to whoever changed it.
 */
export function tomlBlock(body: string, apart: (table: Table) => Apart): OwnedText {
  const block = (kind: 'file' | 'part') =>
    `# >>> workspace-graph: kept up to date as long as nothing in it is changed (${kind} ${hashOf(body)})\n${body}\n${END}`;
  return {
    hash: null,
    write(before) {
      if (before === null) return { text: `${block('file')}\n`, made: null };
      const found = ownBlock(before);
      if (found) {
        const text = found.before + block(found.kind) + found.newline + found.after;
        return checked(apart, { before, text, entries: 1 });
      }
      // A file without a last line end stays one, so that removing the block restores it.
      const isWhole = before === '' || before.endsWith('\n');
      const text = isWhole ? `${before}${block('part')}\n` : `${before}\n${block('part')}`;
      return checked(apart, { before, text, entries: 1 });
    },
    remove(before) {
      const found = ownBlock(before);
      if (!found) return 'foreign';
      const text = (found.newline === '' ? found.before.replace(/\r?\n$/, '') : found.before) + found.after;
      if (found.kind === 'file' && text.trim() === '') return { text: null, made: null };
      return checked(apart, { before, text, entries: 0 });
    },
  };
}

interface OwnBlock {
  readonly before: string;
  readonly after: string;
  readonly kind: 'file' | 'part';
  /** The line end after the block; empty at the end of a file without one. */
  readonly newline: string;
}

function ownBlock(text: string): OwnBlock | null {
  const match = BLOCK.exec(text);
  const [whole, mark, body] = match ?? [];
  if (!match || whole === undefined || mark === undefined || body === undefined) return null;
  const [kind, hash] = mark.split(' ');
  if (hash !== hashOf(body.replaceAll('\r\n', '\n'))) return null;
  return {
    before: text.slice(0, match.index),
    after: text.slice(match.index + whole.length),
    kind: kind === 'file' ? 'file' : 'part',
    newline: /\r?\n$/.exec(whole)?.[0] ?? '',
  };
}

interface Change {
  readonly before: string;
  readonly text: string;
  /** Of our name, in the new text. */
  readonly entries: number;
}

/** The new text, if nobody else has an entry of our name and everything else means what it meant before. */
function checked(apart: (table: Table) => Apart, { before, text, entries }: Change): Edited {
  const [old, made] = [parsed(before), parsed(text)];
  if (!old || !made) return 'foreign';
  const now = apart(made);
  if (now.own.length !== entries || !isDeepStrictEqual(apart(old).others, now.others)) return 'foreign';
  return { text, made: null };
}

function parsed(text: string): Table | null {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' });
  } catch {
    return null;
  }
}
