import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it';

const [BEGIN, END] = ['<!--', '-->'];
const NOWHERE = Number.POSITIVE_INFINITY;

interface Found {
  readonly from: number;
  readonly to: number;
  readonly end: number;
}
/** Where what begins between two places ends: a text full of comments that do not end is searched once. */
const found = new WeakMap<StateBlock | StateInline, Found>();

/** Leaves out comments of HTML. One that does not end is text like any other HTML. */
export function withoutComments(markdown: MarkdownIt): void {
  markdown.block.ruler.before('html_block', 'comment', skipLines, { alt: ['paragraph', 'reference', 'blockquote'] });
  markdown.inline.ruler.before('html_inline', 'comment', skip);
}

function skipLines(state: StateBlock, startLine: number, endLine: number, isSilent: boolean): boolean {
  const { src, bMarks, eMarks, tShift, sCount, blkIndent } = state;
  const start = (bMarks[startLine] ?? 0) + (tShift[startLine] ?? 0);
  if ((sCount[startLine] ?? 0) - blkIndent >= 4 || !src.startsWith(BEGIN, start)) return false;
  const end = endFrom(state, start);
  if (end > (eMarks[endLine - 1] ?? 0)) return false;
  let line = startLine;
  while ((eMarks[line] ?? 0) < end) {
    line += 1;
    if ((sCount[line] ?? 0) >= blkIndent || state.isEmpty(line)) continue;
    found.set(state, { from: start, to: (bMarks[line] ?? 0) - 1, end: NOWHERE });
    return false;
  }
  if (isSilent) return true;
  state.line = line + 1;
  addParagraph(state, src.slice(end, eMarks[line]).trim(), line);
  return true;
}

/** What stands behind a comment on its last line. */
function addParagraph(state: StateBlock, content: string, line: number): void {
  if (content === '') return;
  state.push('paragraph_open', 'p', 1).map = [line, line + 1];
  const text = state.push('inline', '', 0);
  Object.assign(text, { content, map: [line, line + 1], children: [] });
  state.push('paragraph_close', 'p', -1);
}

function skip(state: StateInline): boolean {
  if (!state.src.startsWith(BEGIN, state.pos)) return false;
  const end = endFrom(state, state.pos);
  if (end > state.posMax) return false;
  state.pos = end;
  return true;
}

/** Behind the end of the comment that begins at `start`. */
function endFrom(state: StateBlock | StateInline, start: number): number {
  const known = found.get(state);
  if (known && known.from <= start && start <= known.to) return known.end;
  // As browsers read them, `<!-->` is a whole one.
  const at = state.src.indexOf(END, start + BEGIN.length - 2);
  const [to, end] = at < 0 ? [NOWHERE, NOWHERE] : [at - BEGIN.length, at + END.length];
  found.set(state, { from: start, to, end });
  return end;
}
