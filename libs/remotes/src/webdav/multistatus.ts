import { SaxesParser, type SaxesTagNS } from 'saxes';

const DAV = 'DAV:';

/** What a server tells of one resource. */
export interface DavResource {
  /** As the server writes it: an address, or the path of one. */
  readonly href: string;
  /** `other` for one of which the server tells nothing, such as a broken link. */
  readonly kind: 'file' | 'folder' | 'other';
  readonly sizeBytes: number;
  /** Null where the server has none. */
  readonly etag: string | null;
  /** As the server writes it; empty where it tells none. */
  readonly modified: string;
}

type Draft = { -readonly [Key in keyof DavResource]: DavResource[Key] } & { status: string };

/** An answer that is cut short, or that no WebDAV server gives. */
export class MultistatusUnreadable extends Error {}

/**
 * Reads the answer to a PROPFIND as it arrives. It has to be whole: an answer that ends early is no short listing.
 * @param maxBytes of the whole answer
 * @throws MultistatusUnreadable; whatever the stream throws
 */
export async function readMultistatus(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<DavResource[]> {
  const reader = new MultistatusReader();
  const decoder = new TextDecoder();
  let sizeBytes = 0;
  for await (const chunk of bytes) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) throw new MultistatusUnreadable(`It has more than ${maxBytes} bytes`);
    reader.take(decoder.decode(chunk, { stream: true }));
  }
  reader.take(decoder.decode());
  return reader.end();
}

class MultistatusReader {
  private readonly parser = new SaxesParser({ xmlns: true });
  private readonly found: DavResource[] = [];
  private resource: Draft | null = null;
  /** Of the propstat that is read: only what the server answers with success counts. */
  private told: Partial<Draft> = {};
  private text = '';
  private isMultistatus = false;

  constructor() {
    this.parser.on('error', (error) => {
      throw new MultistatusUnreadable(error.message);
    });
    this.parser.on('doctype', () => {
      throw new MultistatusUnreadable('It declares a document type');
    });
    this.parser.on('opentag', (tag) => this.open(tag));
    this.parser.on('text', (text) => {
      this.text += text;
    });
    this.parser.on('cdata', (text) => {
      this.text += text;
    });
    this.parser.on('closetag', (tag) => this.close(tag));
  }

  take(text: string): void {
    this.parser.write(text);
  }

  end(): DavResource[] {
    this.parser.close();
    if (!this.isMultistatus) throw new MultistatusUnreadable('It is no answer of WebDAV');
    return this.found;
  }

  private open({ uri, local }: SaxesTagNS): void {
    this.text = '';
    if (uri !== DAV) return;
    if (local === 'multistatus') this.isMultistatus = true;
    else if (local === 'response')
      this.resource = { href: '', kind: 'other', sizeBytes: 0, etag: null, modified: '', status: '' };
    else if (local === 'propstat') this.told = {};
    else if (local === 'collection') this.told.kind = 'folder';
  }

  private close({ uri, local }: SaxesTagNS): void {
    const text = this.text.trim();
    this.text = '';
    if (uri !== DAV || !this.resource) return;
    if (local === 'propstat') this.keep();
    else if (local === 'response') this.finish(this.resource);
    else this.note(local, text, this.resource);
  }

  private note(local: string, text: string, resource: Draft): void {
    switch (local) {
      case 'href':
        if (resource.href === '') resource.href = text;
        return;
      case 'status':
        this.told.status = text;
        return;
      case 'getcontentlength':
        this.told.sizeBytes = Number(text);
        return;
      case 'getetag':
        this.told.etag = text;
        return;
      case 'getlastmodified':
        this.told.modified = text;
        return;
      default:
    }
  }

  private keep(): void {
    if (/^HTTP\/\S+ 2\d\d\b/.test(this.told.status ?? ''))
      Object.assign(this.resource ?? {}, { kind: 'file' }, this.told);
    this.told = {};
  }

  private finish({ status: _status, ...resource }: Draft): void {
    this.resource = null;
    if (resource.href === '' || !Number.isSafeInteger(resource.sizeBytes))
      throw new MultistatusUnreadable('It tells of a resource without an address or a size');
    this.found.push(resource);
  }
}
