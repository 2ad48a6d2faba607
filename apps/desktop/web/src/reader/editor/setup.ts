import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  type LanguageSupport,
  syntaxHighlighting,
} from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, Transaction } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { getNonce } from 'get-nonce';
import { hasWindowsLines } from './line-ends';

/** What an editor is to be. */
export interface EditorOptions {
  /** Names it. */
  readonly label: string;
  /** Of its file; decides about the language. */
  readonly path: string;
  /** What it begins with. */
  readonly text: string;
  readonly isReadOnly: boolean;
  /** Of its own words, as the library knows them. */
  readonly phrases: Readonly<Record<string, string>>;
}

/** Colours are those of the page: they follow its theme by themselves. */
const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--svc-surface)', color: 'var(--svc-text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--svc-font-mono)', fontSize: '12.5px', lineHeight: '20px' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--svc-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--svc-text)' },
  '.cm-gutters': { backgroundColor: 'var(--svc-surface)', color: 'var(--svc-text-3)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--svc-hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--svc-selected)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--svc-hover)' },
  '.cm-searchMatch': { backgroundColor: 'var(--svc-wait-tint)', outline: '1px solid var(--svc-wait-line)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--svc-wait-line)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--svc-press)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--svc-rest-tint)', color: 'var(--svc-text-2)', border: 'none' },
  '.cm-specialChar': { color: 'var(--svc-bad)' },
  '.cm-panels': { backgroundColor: 'var(--svc-canvas)', color: 'var(--svc-text)', borderColor: 'var(--svc-line)' },
  '.cm-panels.cm-panels-bottom': { borderTopColor: 'var(--svc-line)' },
  '.cm-panel.cm-search': { fontFamily: 'var(--svc-font)', padding: '8px 32px 8px 12px' },
  '.cm-panel.cm-search label': { fontSize: '12.5px' },
  '.cm-panel.cm-search [name=close]': { width: '24px', height: '24px', color: 'inherit' },
  '.cm-textfield': {
    backgroundColor: 'var(--svc-surface)',
    border: '1px solid var(--svc-line-control)',
    borderRadius: '5px',
    minHeight: '24px',
    fontSize: '13px',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--svc-raised)',
    border: '1px solid var(--svc-line-strong)',
    borderRadius: '5px',
    minHeight: '24px',
    fontSize: '12.5px',
  },
});

const colours = HighlightStyle.define([
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--svc-text-3)' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--svc-term-magenta)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue], color: 'var(--svc-term-green)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--svc-term-yellow)' },
  { tag: [tags.propertyName, tags.attributeName, tags.labelName], color: 'var(--svc-term-blue)' },
  { tag: [tags.tagName, tags.typeName, tags.className], color: 'var(--svc-term-cyan)' },
  { tag: [tags.link, tags.url], color: 'var(--svc-accent-text)' },
  { tag: tags.heading, fontWeight: '600' },
  { tag: tags.strong, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: tags.invalid, color: 'var(--svc-bad)' },
]);

/** Lines of a text of prose are broken, those of code are not. */
const PROSE = /\.(md|markdown|txt|text|log)$|\/[^./]+$/i;
const LANGUAGES: readonly (readonly [RegExp, () => Promise<LanguageSupport>])[] = [
  [/\.(md|markdown)$/i, async () => (await import('@codemirror/lang-markdown')).markdown()],
  [/\.jsonc?$/i, async () => (await import('@codemirror/lang-json')).json()],
  [/\.ya?ml$/i, async () => (await import('@codemirror/lang-yaml')).yaml()],
  [/\.(html?|xhtml|xml|svg|vue)$/i, async () => (await import('@codemirror/lang-html')).html()],
];

/** A paragraph is read again at each key that changes it: one that is longer than this is written without colours. */
const MOST_BLOCK = 20_000;

function hasEndlessBlock(text: string): boolean {
  return text.split(/\n[ \t\r]*\n/).some(({ length }) => length > MOST_BLOCK);
}

/** What every editor of a file is made of. */
export async function extensionsOf({ label, path, text, isReadOnly, phrases }: EditorOptions): Promise<Extension> {
  const known = LANGUAGES.find(([name]) => name.test(path))?.[1];
  const language = /\.(md|markdown)$/i.test(path) && hasEndlessBlock(text) ? undefined : await known?.();
  return [
    EditorView.cspNonce.of(getNonce() ?? ''),
    EditorState.phrases.of(phrases),
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': String(isReadOnly), tabindex: '0' }),
    lineNumbers(),
    foldGutter(),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search(),
    PROSE.test(path) ? EditorView.lineWrapping : [],
    syntaxHighlighting(colours),
    language ?? [],
    keymap.of([...searchKeymap, ...historyKeymap, ...foldKeymap, ...defaultKeymap]),
    look,
  ];
}

/** So that a text leaves the editor with the line ends that it came with. */
export function lineEndOf(text: string): Extension {
  return EditorState.lineSeparator.of(hasWindowsLines(text) ? '\r\n' : '\n');
}

/** The text as it is to be saved. */
export function textOf({ state }: EditorView): string {
  return state.sliceDoc();
}

/** Puts another text in place of what stands there, and touches no more of it than differs. */
export function replaceAll(view: EditorView, text: string): void {
  const [former, next] = [view.state.doc.toString(), view.state.toText(text).toString()];
  const most = Math.min(former.length, next.length);
  let start = 0;
  while (start < most && former[start] === next[start]) start++;
  let end = 0;
  while (end < most - start && former[former.length - 1 - end] === next[next.length - 1 - end]) end++;
  const insert = view.state.toText(next.slice(start, next.length - end).replaceAll('\n', view.state.lineBreak));
  view.dispatch({
    changes: { from: start, to: former.length - end, insert },
    annotations: Transaction.remote.of(true),
  });
}
