import type { OpenContent } from '@workspace-graph/contracts';

type Headers = Readonly<Record<string, string>>;

/** What a browser may show by itself: it can run nothing. Everything else is to be saved. */
const SHOWN = /^(text\/(plain|csv|markdown)|image\/(png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+)$/;
const TEXT = /^text\/|^application\/(json|xml|yaml|toml|javascript)$|\+(json|xml)$/;
const INERT = "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/** A preview brings its styles, pictures and fonts with it. It runs nothing and loads nothing. */
const PREVIEW = `${INERT}; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:`;

/** Headers that say what the content is, and keep browsers from running anything of it. */
export function contentHeaders({ kind, filename, mimeType, sha256, modifiedAt }: OpenContent): Headers {
  const isPage = kind !== 'file';
  const shown = isPage || SHOWN.test(mimeType);
  return {
    'content-type': TEXT.test(mimeType) ? `${mimeType}; charset=utf-8` : mimeType,
    'content-disposition': isPage ? 'inline' : disposition(shown ? 'inline' : 'attachment', filename),
    'content-security-policy': isPage ? PREVIEW : INERT,
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    'last-modified': modifiedAt.toUTCString(),
    ...(kind === 'no-preview' ? {} : { etag: `"${sha256}"`, 'accept-ranges': 'bytes' }),
  };
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
