import { hash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { PageFacts } from '@workspace-graph/contracts';
import type { Encoding } from '../rest/compression.js';

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
  /** The bytes for a client that takes the encoding; the plain ones where the build made no others. */
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
/** How the build names what it compressed: the same again, beside the plain file. */
const ENCODED: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' };
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
        .filter((path) => !Object.values(ENCODED).includes(extname(path)))
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
  const made = new Map(
    Object.keys(ENCODED).map((encoding) => [encoding, readEncoded(folder, path, encoding as Encoding)]),
  );
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    bytes,
    etag: `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`,
    isImmutable: path.startsWith(HASHED),
    encoded: (encoding) => {
      const compressed = encoding && made.get(encoding);
      return compressed ? { bytes: compressed, encoding } : { bytes, encoding: undefined };
    },
  };
}

/** Compressing this well takes seconds, in which a workspace would answer nobody: the build does it. */
function readEncoded(folder: string, path: string, encoding: Encoding): Buffer | undefined {
  const file = join(folder, path + ENCODED[encoding]);
  return existsSync(file) ? readFileSync(file) : undefined;
}

function asAttribute(text: string): string {
  return text.replace(/[^\w ,.:{}[\]-]/gu, (character) => `&#${character.codePointAt(0)};`);
}
