import { createHash } from 'node:crypto';
import type { HttpCall } from '../http/network.js';
import { childText } from '../http/xml.js';
import { cleared, RemoteFailure } from '../port/index.js';
import type { S3Http } from './s3-http.js';

/** Of a content in parts; the protocol asks for 5 MiB at least, and allows 10,000 of them. */
export const PART_BYTES = 8 * 1_048_576;
/** Of an object that is copied in one request, and of each part of a larger one. */
const COPY_BYTES = 1_024 ** 3;

interface Part {
  readonly number: number;
  readonly etag: string;
}

/** What is to be copied. */
export interface CopySource {
  /** As a header names it. */
  readonly source: string;
  readonly etag: string;
  readonly sizeBytes: number;
}

/** An upload in parts that was begun so long ago belongs to a process that did not live to end it. */
const ABANDONED_UPLOAD_MS = 7 * 24 * 60 * 60_000;

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

  private constructor(
    private readonly http: S3Http,
    private readonly key: string,
    private readonly id: string,
  ) {}

  static async begin(http: S3Http, key: string, call: HttpCall): Promise<Multipart> {
    const answer = await http.xml('POST', key, { ...call, query: { uploads: '' } });
    const id = childText(answer, 'UploadId');
    if (id === null || id === '') throw new RemoteFailure('unavailable', { path: call.path });
    return new Multipart(http, key, id);
  }

  async add(part: Uint8Array, call: HttpCall): Promise<void> {
    const query = this.next();
    const md5 = createHash('md5').update(part).digest('base64');
    const { headers } = await this.http.done('PUT', this.key, {
      ...call,
      query,
      body: part,
      headers: { 'content-md5': md5 },
    });
    this.parts.push({ number: Number(query.partNumber), etag: headers.get('etag') ?? '' });
  }

  /** Without a byte through this process. */
  async copy({ source, etag, sizeBytes }: CopySource, call: HttpCall): Promise<void> {
    for (let start = 0; start < sizeBytes; start += COPY_BYTES) {
      const query = this.next();
      const range = `bytes=${start}-${Math.min(start + COPY_BYTES, sizeBytes) - 1}`;
      const headers = {
        'x-amz-copy-source': source,
        'x-amz-copy-source-range': range,
        'x-amz-copy-source-if-match': etag,
      };
      const answer = await this.http.xml('PUT', this.key, { ...call, query, headers });
      this.parts.push({ number: Number(query.partNumber), etag: childText(answer, 'ETag') ?? '' });
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
