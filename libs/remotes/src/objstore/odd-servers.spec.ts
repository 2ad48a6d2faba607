import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bytesOf, failureOf } from '../conformance/stage.js';
import { ObjstoreRemote } from './objstore.remote.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const EMPTY = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';
const listing = (inside: string, truncated = ''): string =>
  `<ListBucketResult><IsTruncated>${truncated === '' ? 'false' : 'true'}</IsTruncated>${truncated}${inside}</ListBucketResult>`;
const file = (key: string): string =>
  `<Contents><Key>${key}</Key><Size>3</Size><ETag>"e"</ETag><LastModified>2026-02-03T04:05:06.000Z</LastModified></Contents>`;
const error = (code: string): string => `<Error><Code>${code}</Code></Error>`;

let server: Server;
let answer: Answer;
let remote: ObjstoreRemote;
let seen: IncomingMessage[] = [];

const says =
  (text: string, status = 200, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end(text);

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(request);
    request.resume();
    request.once('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(async () => {
  answer = says(EMPTY);
  remote = await open();
  seen = [];
});
afterAll(() => void server.close());

function open(): Promise<ObjstoreRemote> {
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const login = { accessKeyId: 'key', secretAccessKey: 'secret' };
  return ObjstoreRemote.open({ endpoint, region: 'r', bucket: 'b', root: 'root', pathStyle: true, ...login });
}

async function listed(): Promise<string[]> {
  const paths: string[] = [];
  for await (const page of remote.list('')) paths.push(...page.map(({ kind, path }) => `${kind} ${path}`));
  return paths;
}

describe('a listing of an odd storage', () => {
  it('is read to its last page', async () => {
    answer = (request, response) => {
      const isNext = request.url?.includes('continuation-token=on%2F1');
      const next = '<NextContinuationToken>on/1</NextContinuationToken>';
      says(isNext ? listing(file('root/b%20c.txt')) : listing(file('root/a.txt'), next))(request, response);
    };
    expect(await listed()).toEqual(['file a.txt', 'file b c.txt']);
  });

  it.each([
    ['ends early', listing(file('root/a.txt')).slice(0, -12)],
    ['says that it goes on and not where', listing(file('root/a.txt'), '<NextContinuationToken/>')],
    ['has a key that was not asked for', listing(file('other/a.txt'))],
    ['is a page', '<html><body>Welcome</body></html>'],
    ['is empty', ''],
    ['fails after it began with success', error('InternalError')],
  ])('that %s is an error and no short listing [sync.sweep.failed-listing-is-error]', async (_what, text) => {
    answer = says(text);
    expect(await failureOf(listed())).toBe('unavailable');
  });

  it('is no absence of the bucket, and none of a folder either', async () => {
    answer = says(error('NoSuchBucket'), 404);
    expect(await failureOf(listed())).toBe('unavailable');
    expect(await failureOf(remote.read('a.txt'))).toBe('unavailable');
  });

  it('is asked for again, unless the server says how long to wait', async () => {
    answer = (request, response) =>
      (seen.length < 3 ? says(error('InternalError'), 500) : says(EMPTY))(request, response);
    expect(await listed()).toEqual([]);
    expect(seen).toHaveLength(3);
    seen = [];
    answer = says(error('SlowDown'), 503, { 'retry-after': '9' });
    await expect(listed()).rejects.toMatchObject({ reason: 'unavailable', facts: { retryAfterSeconds: 9 } });
    expect(seen).toHaveLength(1);
  });

  it('takes the time of a server that says that ours is wrong', async () => {
    const theirs = new Date(Date.now() + 3_600_000);
    const dates: string[] = [];
    answer = (request, response) => {
      const date = String(request.headers['x-amz-date']);
      dates.push(date);
      const isRight = date.slice(0, 11) === theirs.toISOString().replace(/[-:]/g, '').slice(0, 11);
      const refused = says(error('RequestTimeTooSkewed'), 403, { date: theirs.toUTCString() });
      (isRight ? says(EMPTY) : refused)(request, response);
    };
    expect(await listed()).toEqual([]);
    expect(await listed()).toEqual([]);
    expect(dates).toHaveLength(3);
  });
});

describe('an upload that a killed process began', () => {
  it('is forgotten after a week, and one that may still go on is not', async () => {
    const began = (key: string, days: number): string =>
      `<Upload><Key>${key}</Key><UploadId>of ${key}</UploadId><Initiated>${new Date(Date.now() - days * 86_400_000).toISOString()}</Initiated></Upload>`;
    const uploads = `<ListMultipartUploadsResult>${began('root/old', 8)}${began('root/young', 6)}</ListMultipartUploadsResult>`;
    answer = (request, response) =>
      says(new URL(request.url ?? '', 'http://x').searchParams.has('uploads') ? uploads : EMPTY)(request, response);
    await open();
    const ended = seen.filter(({ method }) => method === 'DELETE').map(({ url }) => decodeURIComponent(url ?? ''));
    expect(ended).toEqual(['/b/root/old?uploadId=of root/old']);
  });
});

describe('a write to an odd storage', () => {
  const head: Answer = (request, response) =>
    request.method === 'HEAD' ? says('', 404)(request, response) : says(EMPTY)(request, response);

  it('is done without a condition where the server knows none', async () => {
    let stored = false;
    answer = (request, response) => {
      if (request.method === 'HEAD' && stored)
        return says('', 200, { etag: '"e"', 'content-length': '3' })(request, response);
      if (request.method !== 'PUT') return head(request, response);
      if (request.headers['if-none-match'] !== undefined) return says(error('NotImplemented'), 501)(request, response);
      stored = true;
      says('')(request, response);
    };
    expect(await remote.write('a.txt', bytesOf('abc'), { expected: null })).toMatchObject({ revision: 'e' });
    expect(seen.filter(({ method }) => method === 'PUT')).toHaveLength(2);
  });

  it.each([
    ['QuotaExceeded', 403, 'full'],
    ['InsufficientStorage', 507, 'full'],
    ['AccessDenied', 403, 'forbidden'],
    ['KeyTooLongError', 400, 'name_refused'],
    ['EntityTooLarge', 400, 'too_large'],
    ['ServiceUnavailable', 503, 'unavailable'],
    ['', 302, 'unavailable'],
  ] as const)('that is refused with %s is told as what it is', async (code, status, reason) => {
    answer = (request, response) =>
      request.method === 'PUT'
        ? says(error(code), status, { location: 'http://127.0.0.1:1/' })(request, response)
        : head(request, response);
    expect(await failureOf(remote.write('a.txt', bytesOf('abc'), { expected: null }))).toBe(reason);
    expect(seen.filter(({ method }) => method === 'PUT')).toHaveLength(1);
  });
});
