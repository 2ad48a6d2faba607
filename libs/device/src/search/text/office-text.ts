import { Parser } from 'htmlparser2';
import { TextSink } from './text-sink.js';
import { readZip } from './zip-entries.js';

/** How the text stands in the XML of one format. */
interface TextRules {
  /** Entries of the bundle that hold text. */
  readonly entries: RegExp;
  /** Elements whose content is text of the document. */
  readonly holds: ReadonlySet<string>;
  /** Elements that end a line or part two words. */
  readonly breaks: ReadonlySet<string>;
  /** Elements whose content nobody sees. */
  readonly silent: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** Elements by their local names: the prefixes are the writing program's choice. */
const FORMATS: readonly TextRules[] = [
  {
    entries: /^word\/(document|footnotes|endnotes|comments|header\d*|footer\d*)\.xml$/,
    holds: new Set(['t']),
    breaks: new Set(['p', 'br', 'tab', 'tc']),
    silent: NONE,
  },
  {
    entries: /^ppt\/(slides\/slide|notesSlides\/notesSlide)\d+\.xml$/,
    holds: new Set(['t']),
    breaks: new Set(['p', 'br', 'tc']),
    silent: NONE,
  },
  {
    // Texts of cells lie in one shared list; numbers and texts without formatting lie in the cells.
    entries: /^xl\/(sharedStrings|workbook|worksheets\/sheet\d+|comments\d*)\.xml$/,
    holds: new Set(['t', 'v']),
    breaks: new Set(['si', 'c', 'row', 'comment']),
    silent: new Set(['rPh']),
  },
  {
    // OpenDocument: all of the body is text.
    entries: /^content\.xml$/,
    holds: new Set(['body']),
    breaks: new Set(['p', 'h', 'tab', 'line-break', 's', 'table-cell']),
    silent: new Set(['tracked-changes', 'binary-data']),
  },
];

/** The text of a document of Office or OpenDocument; null when the bundle is none. @throws when it is damaged */
export async function officeText(bytes: Buffer): Promise<string | null> {
  const sink = new TextSink();
  let known = false;
  await readZip(bytes, {
    wants: (name) => FORMATS.some(({ entries }) => entries.test(name)),
    isEnough: () => sink.isFull,
    read: async (name, chunks) => {
      const rules = FORMATS.find(({ entries }) => entries.test(name));
      if (!rules) return;
      known = true;
      await readXml(chunks, { rules, sink });
    },
  });
  return known ? sink.toString() : null;
}

async function readXml(
  chunks: AsyncIterable<Uint8Array>,
  { rules, sink }: { readonly rules: TextRules; readonly sink: TextSink },
): Promise<void> {
  const decoder = new TextDecoder();
  const parser = new Parser(handlersOf(rules, sink), { xmlMode: true });
  for await (const chunk of chunks) {
    parser.write(decoder.decode(chunk, { stream: true }));
    if (sink.isFull) return;
  }
  parser.end();
  sink.break();
}

function handlersOf({ holds, breaks, silent }: TextRules, sink: TextSink) {
  let holding = 0;
  let silenced = 0;
  /** A cell that refers to a shared text holds only its number. */
  let isReference = false;
  const open: boolean[] = [];
  return {
    onopentag: (qualified: string, attributes: Readonly<Record<string, string>>) => {
      const name = localName(qualified);
      if (name === 'c') isReference = attributes['t'] === 's';
      if (name === 'sheet') sink.add(`${attributes['name'] ?? ''}\n`);
      if (silent.has(name)) silenced += 1;
      if (breaks.has(name)) sink.break();
      const isHolder = holds.has(name) && !(isReference && name === 'v');
      open.push(isHolder);
      if (isHolder) holding += 1;
    },
    onclosetag: (qualified: string) => {
      const name = localName(qualified);
      if (open.pop()) holding -= 1;
      if (silent.has(name)) silenced -= 1;
      if (breaks.has(name)) sink.break();
    },
    ontext: (text: string) => {
      if (holding > 0 && silenced === 0) sink.add(text);
    },
  };
}

function localName(qualified: string): string {
  return qualified.slice(qualified.indexOf(':') + 1);
}
