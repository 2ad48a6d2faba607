import { hash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { PageFacts } from '@workspace-graph/contracts';
import { COMPRESS_FROM_BYTES, type Encoding } from '../rest/compression.js';

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
  /** The bytes for a client that takes the encoding; the plain ones where that saves nothing. */
  encoded(encoding: Encoding | undefined): { readonly bytes: Buffer; readonly encoding: Encoding | undefined };
}

/** What `index.html` has in place of the nonce of an answer. */
export const NONCE_PLACE = '__NONCE__';
/** And in place of what the page is told. */
const FACTS_PLACE = '__FACTS__';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};
const COMPRESSED_ALREADY = new Set(['.png', '.woff2']);
/** Where the build puts what it names by content. */
const HASHED = 'assets/';

/** The built page, held in memory: what is not there cannot be asked for, whatever a path spells. */
export class PageFiles {
  private readonly files: ReadonlyMap<string, PageFile>;
  private readonly index: string;

  /** @throws Error that says what to do, where the page is not built */
  constructor(folder: string) {
    this.files = new Map(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
        .map((path) => [path, readPageFile(folder, path)]),
    );
    const index = this.files.get('index.html');
    if (!index) throw new Error(`There is no page in ${folder}: npm run build makes it.`);
    this.index = index.bytes.toString('utf8');
  }

  /** The file of a path below the page's own; undefined where there is none. */
  find(path: string): PageFile | undefined {
    return path === 'index.html' ? undefined : this.files.get(path);
  }

  /** The document of every view, with a nonce of its own. */
  document(facts: PageFacts): { readonly html: string; readonly nonce: string } {
    const nonce = randomBytes(16).toString('base64');
    const html = this.index
      .replaceAll(NONCE_PLACE, nonce)
      .replace(FACTS_PLACE, () => asAttribute(JSON.stringify(facts)));
    return { html, nonce };
  }
}

function readPageFile(folder: string, path: string): PageFile {
  const bytes = readFileSync(join(folder, path));
  const extension = extname(path);
  const isSmall = COMPRESSED_ALREADY.has(extension) || bytes.length < COMPRESS_FROM_BYTES;
  const made = new Map<Encoding, Buffer>();
  return {
    type: TYPES[extension] ?? 'application/octet-stream',
    bytes,
    etag: `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`,
    isImmutable: path.startsWith(HASHED),
    encoded: (encoding) => {
      if (encoding === undefined || isSmall) return { bytes, encoding: undefined };
      const compressed = made.get(encoding) ?? (encoding === 'br' ? brotliCompressSync(bytes) : gzipSync(bytes));
      made.set(encoding, compressed);
      return { bytes: compressed, encoding };
    },
  };
}

function asAttribute(text: string): string {
  return text.replace(/[^\w ,.:{}[\]-]/gu, (character) => `&#${character.codePointAt(0)};`);
}
