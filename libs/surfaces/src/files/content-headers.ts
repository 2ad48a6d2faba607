import type { OpenContent } from '@workspace-graph/contracts';

type Headers = Readonly<Record<string, string>>;

/** What a browser may show by itself: it can run nothing. Everything else is to be saved. */
const SHOWN = /^(text\/(plain|csv|markdown)|image\/(png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+)$/;
const TEXT = /^text\/|^application\/(json|xml|yaml|toml|javascript)$|\+(json|xml)$/;
const CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'";
const INERT = `sandbox; ${CLOSED}; frame-ancestors 'none'`;
/** A page brings its styles, pictures and fonts with it. It runs nothing and loads nothing. */
const PAGE = `sandbox; ${CLOSED}; frame-ancestors 'self'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:`;
/** What shows a document refuses to in a sandbox; it is a program of the browser, which the policy lets style itself. */
const DOCUMENT = `${CLOSED}; frame-ancestors 'self'; object-src 'self'; style-src 'unsafe-inline'`;

/**
 * Headers that say what the content is, and keep browsers from running anything of it. `preview`: a page or a document is
 * to be shown, also in a frame of the page of this workspace.
 */
export function contentHeaders(content: OpenContent, { preview }: { readonly preview: boolean }): Headers {
  const { kind, mimeType, sha256, modifiedAt } = content;
  const policy = framedPolicy(content, preview);
  return {
    'content-type': TEXT.test(mimeType) ? `${mimeType}; charset=utf-8` : mimeType,
    'content-disposition': dispositionOf(content, policy !== null),
    'content-security-policy': policy ?? INERT,
    ...(policy === null ? {} : { 'x-frame-options': 'SAMEORIGIN' }),
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    'last-modified': modifiedAt.toUTCString(),
    ...(kind === 'no-preview' ? {} : { etag: `"${sha256}"`, 'accept-ranges': 'bytes' }),
  };
}

/** The policy of what a frame may show; null for everything else. */
function framedPolicy({ kind, mimeType }: OpenContent, preview: boolean): string | null {
  if (kind !== 'file') return PAGE;
  if (!preview) return null;
  if (mimeType === 'application/pdf') return DOCUMENT;
  return mimeType === 'text/html' ? PAGE : null;
}

function dispositionOf({ kind, filename, mimeType }: OpenContent, isFramed: boolean): string {
  if (kind !== 'file') return 'inline';
  return disposition(isFramed || SHOWN.test(mimeType) ? 'inline' : 'attachment', filename);
}

/** Whether somebody who sends this type means text. */
export function isTextType(contentType: string | undefined): boolean {
  const [type = ''] = (contentType ?? '').split(';');
  return TEXT.test(type.trim().toLowerCase());
}

/** The name twice: for everybody in ASCII, and as RFC 8187 writes all others. */
function disposition(kind: 'inline' | 'attachment', filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const coded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${plain}"; filename*=UTF-8''${coded}`;
}
