import type { HttpCall } from '../http/network.js';
import { childText, type XmlElement } from '../http/xml.js';
import { ABANDONED_UPLOAD_MS, cleared, RemoteFailure } from '../port/index.js';
import type { S3Http } from './s3-http.js';

/** Of a content in parts; the protocol asks for 5 MiB at least, and allows 10,000 of them. */
export const PART_BYTES = 8 * 1_048_576;
/** Of an object that is copied in one request, and of each part of a larger one. */
const COPY_BYTES = 1_024 ** 3;

interface Part {
  readonly number: number;
  readonly etag: string;
  readonly sizeBytes: number;
}

/** What is to be copied. */
export interface CopySource {
  /** As a header names it. */
  readonly source: string;
  readonly etag: string;
  readonly sizeBytes: number;
}

/** Forgets uploads below a prefix that nobody will complete. */
export async function clearUploads(http: S3Http, prefix: string, nowMs: number): Promise<void> {
  const call = { path: '' };
  const { children } = await http.xml('GET', null, { ...call, query: { uploads: '', prefix, 'max-uploads': '1000' } });
  for (const upload of children.filter(({ name }) => name === 'Upload')) {
    const [key, uploadId] = [childText(upload, 'Key'), childText(upload, 'UploadId')];
    const isOld = Date.parse(childText(upload, 'Initiated') ?? '') <= nowMs - ABANDONED_UPLOAD_MS;
    if (isOld && key !== null && uploadId !== null)
      await cleared(() => http.done('DELETE', key, { ...call, query: { uploadId }, accept: [404] }));
  }
}

/** A content that goes up in parts. Nothing is seen under its key before `complete`. */
export class Multipart {
  private readonly parts: Part[] = [];

  /** @param id of an upload that was begun */
  constructor(
    private readonly http: S3Http,
    private readonly key: string,
    readonly id: string,
  ) {}

  static async begin(http: S3Http, key: string, call: HttpCall): Promise<Multipart> {
    const answer = await http.xml('POST', key, { ...call, query: { uploads: '' } });
    const id = childText(answer, 'UploadId');
    if (id === null || id === '') throw new RemoteFailure('unavailable', { path: call.path });
    return new Multipart(http, key, id);
  }

  /** Bytes of the parts that are there, as far as none is missing between them. */
  get sizeBytes(): number {
    return this.parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  }

  /** Has what the server has of it, instead of what was sent from here. False for an upload that the server does not know. */
  async recall(call: HttpCall): Promise<boolean> {
    this.parts.length = 0;
    for (let after = '0'; ; ) {
      const query = { uploadId: this.id, 'part-number-marker': after };
      const response = await this.http.send('GET', this.key, { ...call, query, accept: [404] });
      if (response.status === 404) {
        await response.body?.cancel();
        return false;
      }
      const page = await this.http.xmlOf(response, call);
      const told = page.children.filter(({ name }) => name === 'Part');
      this.parts.push(...told.map((part) => partOf(part, call)));
      const next = childText(page, 'NextPartNumberMarker');
      if (childText(page, 'IsTruncated') !== 'true' || next === null || told.length === 0) break;
      after = next;
    }
    const gap = this.parts.findIndex(({ number }, index) => number !== index + 1);
    if (gap >= 0) this.parts.length = gap;
    return true;
  }

  /** Leaves out what lies behind an offset. False where that is no end of a part that is there. */
  goBackTo(offset: number): boolean {
    while (this.sizeBytes > offset) this.parts.pop();
    return this.sizeBytes === offset;
  }

  /** The signature names the hash of the part, which the server compares. */
  async add(part: Uint8Array, call: HttpCall): Promise<void> {
    const query = this.next();
    const { headers } = await this.http.done('PUT', this.key, { ...call, query, part });
    this.parts.push({
      number: Number(query.partNumber),
      etag: headers.get('etag') ?? '',
      sizeBytes: part.byteLength,
    });
  }

  /** Without a byte through this process. */
  async copy({ source, etag, sizeBytes }: CopySource, call: HttpCall): Promise<void> {
    for (let start = 0; start < sizeBytes; start += COPY_BYTES) {
      const query = this.next();
      const end = Math.min(start + COPY_BYTES, sizeBytes);
      const range = `bytes=${start}-${end - 1}`;
      const headers = {
        'x-amz-copy-source': source,
        'x-amz-copy-source-range': range,
        'x-amz-copy-source-if-match': etag,
      };
      const answer = await this.http.xml('PUT', this.key, { ...call, query, headers });
      this.parts.push({
        number: Number(query.partNumber),
        etag: childText(answer, 'ETag') ?? '',
        sizeBytes: end - start,
      });
    }
  }

  /** @param condition headers that say what may be replaced, for servers that compare it */
  async complete(condition: Readonly<Record<string, string>>, call: HttpCall): Promise<void> {
    const list = this.parts.map(
      ({ number, etag }) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${etag.replaceAll('"', '&quot;')}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`;
    const query = { uploadId: this.id };
    await this.http.xml('POST', this.key, {
      ...call,
      query,
      body,
      headers: { ...condition, 'content-type': 'application/xml' },
    });
  }

  /** What was sent is forgotten. One that is gone is no error. */
  async abandon(path: string): Promise<void> {
    const query = { uploadId: this.id };
    await cleared(() => this.http.done('DELETE', this.key, { path, query, accept: [404] }));
  }

  private next(): { readonly partNumber: string; readonly uploadId: string } {
    return { partNumber: String(this.parts.length + 1), uploadId: this.id };
  }
}

function partOf(element: XmlElement, call: HttpCall): Part {
  const [number, sizeBytes] = [Number(childText(element, 'PartNumber')), Number(childText(element, 'Size'))];
  if (Number.isInteger(number) && Number.isInteger(sizeBytes))
    return { number, sizeBytes, etag: childText(element, 'ETag') ?? '' };
  throw new RemoteFailure('unavailable', { path: call.path });
}
