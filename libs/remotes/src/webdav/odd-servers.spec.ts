import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { failureOf } from '../conformance/stage.js';
import { RemoteFailure } from '../port/index.js';
import { WebdavRemote } from './webdav.remote.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const FOLDER = '<D:resourcetype><D:collection/></D:resourcetype>';
const FILE = '<D:resourcetype/><D:getcontentlength>3</D:getcontentlength><D:getetag>"1"</D:getetag>';
const told = (href: string, props: string, status = '200 OK'): string =>
  `<D:response><D:href>${href}</D:href><D:propstat><D:prop>${props}</D:prop><D:status>HTTP/1.1 ${status}</D:status></D:propstat></D:response>`;
const multistatus = (...responses: string[]): string =>
  `<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">${responses.join('')}</D:multistatus>`;
const answers =
  (text: string, status = 207): Answer =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'text/xml' }).end(text);

/** Closes the connection the first time. */
function atSecond(give: Answer): Answer {
  let asked = 0;
  return (request, response) => {
    asked += 1;
    if (asked === 1) request.socket.destroy();
    else give(request, response);
  };
}

let server: Server;
let url: string;
let answer: Answer;
let remote: WebdavRemote;
const seen: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(async () => {
  answer = (request, response) =>
    answers(multistatus(told('/files/', FOLDER)), request.url === '/files' || request.url === '/files/' ? 207 : 404)(
      request,
      response,
    );
  remote = await WebdavRemote.open({ url: `${url}/files`, username: 'ada', password: 'secret' });
  seen.length = 0;
});
afterAll(() => void server.close());

async function listed(): Promise<string[]> {
  const paths: string[] = [];
  for await (const page of remote.list('')) paths.push(...page.map(({ kind, path }) => `${kind} ${path}`));
  return paths;
}

describe('a listing of an odd server', () => {
  const whole = multistatus(told('/files/', FOLDER), told('/files/a.txt', FILE), told('/files/b%20c/', FOLDER));

  it('is read by what it says, however it spells that', async () => {
    answer = answers(whole);
    expect(await listed()).toEqual(['file a.txt', 'folder b c']);
    answer = answers(whole.replaceAll('D:', 'x:').replaceAll('xmlns:D', 'xmlns:x').replaceAll('"DAV:"', "'DAV:'"));
    expect(await listed()).toEqual(['file a.txt', 'folder b c']);
    answer = answers(multistatus(told(`${url}/files`, FOLDER), told(`${url}/files/&#x61;.txt`, FILE)));
    expect(await listed()).toEqual(['file a.txt']);
    answer = answers(multistatus(told('/files/', FOLDER), told('/files/%ff', FILE), told('/files/a%2fb', FILE)));
    expect(await listed()).toEqual(['other �', 'other �']);
    answer = answers(multistatus(told('/files/', FOLDER), told('/files/a.txt', FILE, '404 Not Found')));
    expect(await listed()).toEqual(['other a.txt']);
  });

  it.each([
    ['ends early', whole.slice(0, -10)],
    ['ends between two resources', whole.slice(0, whole.lastIndexOf('<D:response>'))],
    ['is empty', ''],
    ['is a page', '<html><body>Welcome</body></html>'],
    ['is of another folder', multistatus(told('/other/', FOLDER))],
    ['goes on above the root', multistatus(told('/files/', FOLDER), told('/files/../etc', FILE))],
    ['is of a folder with a longer name', multistatus(told('/files/', FOLDER), told('/filesx/a', FILE))],
    ['tells more levels than asked', multistatus(told('/files/', FOLDER), told('/files/a/b', FILE))],
    ['tells nothing of the folder', multistatus(told('/files/a.txt', FILE))],
    ['has a size that is none', multistatus(told('/files/', FOLDER), told('/files/a', FILE.replace('>3<', '>x<')))],
    ['declares entities', `<!DOCTYPE d [<!ENTITY a "b">]>${whole.slice(whole.indexOf('<D:'))}`],
  ])('that %s is an error and no short listing [sync.sweep.failed-listing-is-error]', async (_what, text) => {
    answer = answers(text);
    expect(await failureOf(listed())).toBe('unavailable');
  });

  it('is asked for again where the server closed the connection that it kept', async () => {
    answer = atSecond(answers(whole));
    expect(await listed()).toEqual(['file a.txt', 'folder b c']);
  });

  it('is no absence when the server is too busy', async () => {
    answer = (_request, response) => void response.writeHead(503, { 'retry-after': '7' }).end('busy');
    const failure = await listed().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RemoteFailure);
    expect(failure).toMatchObject({ reason: 'unavailable', facts: { retryAfterSeconds: 7 } });
  });

  it('is not followed elsewhere, and takes the password nowhere', async () => {
    const elsewhere: string[] = [];
    const other = createServer((request, response) => {
      elsewhere.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/files/`;
    answer = (_request, response) => void response.writeHead(301, { location }).end();
    expect(await failureOf(listed())).toBe('unavailable');
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a');
    }
    expect(await failureOf(remote.write('a.txt', bytes(), { expected: null }))).toBe('unavailable');
    expect(elsewhere).toEqual([]);
    other.close();
  });
});

describe('a write to an odd server', () => {
  it.each([
    [413, 'too_large'],
    [507, 'full'],
  ] as const)('that is refused with %d is told as what it is', async (status, reason) => {
    const looks = answer;
    const refused: Readonly<Record<string, number>> = { PUT: status, MKCOL: 201 };
    answer = (request, response) => {
      const code = refused[request.method ?? ''];
      return code === undefined ? looks(request, response) : void response.writeHead(code).end();
    };
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('abc');
    }
    expect(await failureOf(remote.write('new.txt', bytes(), { expected: null }))).toBe(reason);
  });
});

describe('a folder at an odd server', () => {
  /** Refuses the first requests for each folder, as for one whose parent is not there. */
  function forgetful(refusals: number): Answer {
    const folders = new Set(['/files']);
    const refused = new Map<string, number>();
    return (request, response) => {
      const at = request.url?.replace(/\/$/, '') ?? '';
      if (request.method !== 'MKCOL')
        return folders.has(at) ? answers(multistatus(told(`${at}/`, FOLDER)))(request, response) : gone(response);
      const times = refused.get(at) ?? 0;
      refused.set(at, times + 1);
      if (times < refusals) return void response.writeHead(409).end();
      folders.add(at);
      response.writeHead(201).end();
    };
  }
  const gone = (response: ServerResponse): void => void response.writeHead(404).end();

  it('is asked for again where the one that it is in was made a moment ago, which the server has not yet seen', async () => {
    answer = forgetful(2);
    await remote.makeFolder('new/deep');
    expect(await remote.stat('new/deep')).toMatchObject({ kind: 'folder', path: 'new/deep' });
  });

  it('is given up where the server goes on refusing it', async () => {
    answer = forgetful(9);
    expect(await failureOf(remote.makeFolder('new'))).toBe('unavailable');
    expect(seen.filter((request) => request.startsWith('MKCOL'))).toHaveLength(3);
  });
});

describe('a content of an odd server', () => {
  const listing = multistatus(told('/files/a.txt', FILE));
  const reads = async (give: Answer): Promise<string> => {
    answer = (request, response) =>
      request.method === 'GET' ? give(request, response) : answers(listing)(request, response);
    await using content = await remote.read('a.txt', { range: { offset: 1, length: 1 } });
    let text = '';
    for await (const chunk of content.bytes) text += Buffer.from(chunk).toString();
    return text;
  };

  it('is the part that was asked for, or an error', async () => {
    const part: Answer = (_request, response) => void response.writeHead(206, { etag: '"1"' }).end('b');
    expect(await reads(part)).toBe('b');
    expect(await reads(atSecond(part))).toBe('b');
    const whole: Answer = (_request, response) => void response.writeHead(200, { etag: '"1"' }).end('abc');
    expect(await failureOf(reads(whole))).toBe('unavailable');
    const other: Answer = (_request, response) => void response.writeHead(206, { etag: '"2"' }).end('x');
    expect(await failureOf(reads(other))).toBe('changed');
    const nothing: Answer = (_request, response) => void response.writeHead(206, { etag: '"1"' }).end();
    expect(await failureOf(reads(nothing))).toBe('unavailable');
  });
});
