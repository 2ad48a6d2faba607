import DOMPurify from 'dompurify';
import createMarkdown, { type Token } from 'markdown-it';
import { contentUrl, type FilePlace, readerUrl, type Target, targetOf } from './addresses';
import { withoutComments } from './comments';

const ALLOWED = {
  ALLOWED_TAGS:
    'h1 h2 h3 h4 h5 h6 p a img ul ol li blockquote pre code em strong s hr br table thead tbody tr th td'.split(' '),
  ALLOWED_ATTR: ['href', 'src', 'alt', 'title', 'id', 'class', 'start', 'target', 'rel', 'loading'],
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};
/** Names the headings, so that no text takes the name of a part of this page. */
const HEADING = 'doc-';
const FRONT_MATTER = /^---\r?\n([\s\S]*?)\r?\n---(\r?\n|$)/;
const PICTURE = /^data:image\//;
/** How a step begins that is done, or not. */
const STEP = /^\[([ xX])\] /;

const markdown = createMarkdown({ html: false, linkify: true });
markdown.use(withoutComments);
// Named ones only: what looks like a name of a file is none of a site.
markdown.linkify.set({ fuzzyLink: false });
const { escapeHtml } = markdown.utils;
/** What somebody says has its line breaks, and hides nothing. */
const messages = createMarkdown({ html: false, linkify: true, breaks: true });
messages.linkify.set({ fuzzyLink: false });

/** A text as it is to be read: comments are left out, other HTML is shown as text, what is not known to be harmless is left out. */
export function render(text: string, place: FilePlace): DocumentFragment {
  const tokens = markdown.parse(text.replace(FRONT_MATTER, '```yaml\n$1\n```\n'), {});
  for (const [at, token] of tokens.entries()) {
    alignByClass(token);
    tick(tokens, at);
    if (token.type === 'heading_open') token.attrSet('id', HEADING + slug(textOf(tokens[at + 1])));
    for (const child of token.children ?? []) resolve(child, place);
  }
  return DOMPurify.sanitize(markdown.renderer.render(tokens, markdown.options, {}), ALLOWED);
}

/**
 * A message as it is to be read, at a node or at none. It has no headings of this page, and pictures are links: nothing is fetched by what
 * an agent says.
 */
export function renderMessage(text: string, nodeId: string | null): DocumentFragment {
  const tokens = messages.parse(text, {});
  for (const [at, token] of tokens.entries()) {
    alignByClass(token);
    tick(tokens, at);
    if (/^heading_/.test(token.type)) token.tag = 'p';
    if (token.type === 'heading_open') token.attrSet('class', 'title');
    for (const child of token.children ?? []) resolveAt(child, nodeId);
  }
  return DOMPurify.sanitize(messages.renderer.render(tokens, messages.options, {}), ALLOWED);
}

/** The id of a heading that a link in the text names. */
export function headingId(name: string): string {
  return HEADING + slug(name);
}

function textOf(token: Token | undefined): string {
  return (token?.children ?? []).map(({ content }) => content).join('');
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

/** The policy of this page allows no style of an element's own. */
function alignByClass(token: Token): void {
  const side = /text-align:(\w+)/.exec(String(token.attrGet('style') ?? ''))?.[1];
  if (side === undefined) return;
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style');
  token.attrSet('class', `to-${side}`);
}

/** Steps of a list have a box instead of a dot. Nothing is changed by it: the file is. */
function tick(tokens: readonly Token[], at: number): void {
  const [item, paragraph, inline] = tokens.slice(at, at + 3);
  const text = inline?.children?.[0];
  const [begin = '', mark = ' '] = STEP.exec(text?.content ?? '') ?? [];
  if (item?.type !== 'list_item_open' || paragraph?.type !== 'paragraph_open' || !text || begin === '') return;
  item.attrSet('class', 'step');
  text.content = `${mark === ' ' ? '☐' : '☑'} ${text.content.slice(begin.length)}`;
}

/** Links and pictures lead to files of the node; what lies elsewhere is opened outside, and never fetched from here. */
function resolve(token: Token, place: FilePlace): void {
  if (token.type === 'link_open') resolveLink(token, place);
  else if (token.type === 'image') resolvePicture(token, place);
}

function resolveAt(token: Token, nodeId: string | null): void {
  if (token.type !== 'link_open' && token.type !== 'image') return;
  const target = targetOf(String(token.attrGet(token.type === 'image' ? 'src' : 'href') ?? ''), '');
  const url = addressOf(target, nodeId);
  if (token.type === 'image') linkInstead(token, url);
  else if (url === null) token.attrs = [];
  else if (target?.kind === 'file') token.attrSet('href', url);
  else lead(token, url);
}

/** Where a link of a message leads; null for nowhere. */
function addressOf(target: Target | null, nodeId: string | null): string | null {
  if (target?.kind === 'elsewhere') return target.url;
  return target?.kind === 'file' && nodeId !== null ? readerUrl({ nodeId, path: target.path }) : null;
}

function resolveLink(token: Token, place: FilePlace): void {
  const target = targetOf(String(token.attrGet('href') ?? ''), place.path);
  if (target === null) token.attrs = [];
  else if (target.kind === 'file') token.attrSet('href', readerUrl({ ...place, path: target.path }));
  else if (target.kind === 'heading') token.attrSet('href', `#${headingId(target.id)}`);
  else lead(token, target.url);
}

function lead(token: Token, url: string): void {
  token.attrSet('href', url);
  token.attrSet('target', '_blank');
  token.attrSet('rel', 'noopener noreferrer');
}

function resolvePicture(token: Token, place: FilePlace): void {
  const src = String(token.attrGet('src') ?? '');
  const target = targetOf(src, place.path);
  token.attrSet('loading', 'lazy');
  if (PICTURE.test(src)) return;
  if (target?.kind === 'file') return token.attrSet('src', contentUrl({ ...place, path: target.path }));
  // A picture of another site would tell it who reads; a link to it tells nothing until it is followed.
  linkInstead(token, target?.kind === 'elsewhere' ? target.url : null);
}

/** A link in place of a picture; its text alone where it leads nowhere. */
function linkInstead(token: Token, address: string | null): void {
  const text = escapeHtml(token.content);
  const url = address === null ? null : escapeHtml(address);
  const outside = address?.startsWith('?') ? '' : ' target="_blank" rel="noopener noreferrer"';
  token.type = 'html_inline';
  token.content = url === null ? text : `<a href="${url}"${outside}>${text || url}</a>`;
}
