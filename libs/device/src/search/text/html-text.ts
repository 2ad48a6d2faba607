import { decodeText } from '@workspace-graph/disk/decode-text';
import { Parser } from 'htmlparser2';
import { TextSink } from './text-sink.js';

const SILENT = new Set(['script', 'style', 'template', 'noscript', 'svg', 'math', 'object']);
/** Elements that stand in a line of text; all others end one. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code data dfn em font i kbd mark q s samp small span strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
const CHUNK_LENGTH = 65_536;
const HEAD_BYTES = 2_048;

/** What a reader of the page sees: no scripts, no styles. Null when the bytes are no text. */
export function htmlText(bytes: Uint8Array): string | null {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, HEAD_BYTES));
  const source = decodeText(bytes, /charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1]);
  if (source === null) return null;
  const sink = new TextSink();
  let silent = 0;
  const parser = new Parser({
    onopentagname: (name) => {
      if (SILENT.has(name)) silent += 1;
      if (!INLINE.has(name)) sink.break();
    },
    onclosetag: (name) => {
      if (SILENT.has(name)) silent -= 1;
      if (!INLINE.has(name)) sink.break();
    },
    ontext: (text) => {
      if (silent === 0) sink.add(text);
    },
  });
  for (let at = 0; at < source.length && !sink.isFull; at += CHUNK_LENGTH)
    parser.write(source.slice(at, at + CHUNK_LENGTH));
  parser.end();
  return sink.toString();
}
