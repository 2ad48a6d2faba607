import { createHash } from 'node:crypto';
import { type ByteRange, type FileContent, type OpenContent, ServiceError } from '@workspace-graph/contracts';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import { FilesModule } from './files.module.js';

const OLD = 'what was there';
const NEW = 'what is there now';
const FILE = '/nodes/0197c2f0-0000-7000-8000-000000000001/file?path=wip/a.txt';
/** Contents as they are found, one after the other; all but the last are replaced before a byte of them is read. */
let found: string[];
let open: number;
let edge: EdgeHarness;

beforeAll(async () => {
  edge = await startEdge({ imports: [FilesModule.forRoot({ content: { useValue: content } })] });
});
beforeEach(() => {
  open = 0;
});
afterEach(() => expect(open).toBe(0));
afterAll(() => edge.close());

const content: FileContent = {
  confirm: () => Promise.resolve(),
  open: async () => {
    open += 1;
    const text = found[0] ?? '';
    const isThere = found.length === 1;
    found = isThere ? found : found.slice(1);
    return opened(text, isThere);
  },
  create: () => Promise.reject(new Error('nothing is made here')),
  replace: () => Promise.reject(new Error('nothing is replaced here')),
};

function opened(text: string, isThere: boolean): OpenContent {
  let isClosed = false;
  return {
    kind: 'file',
    filename: 'a.txt',
    mimeType: 'text/plain',
    sizeBytes: text.length,
    sha256: sha(text),
    modifiedAt: new Date(0),
    async *bytes(range?: ByteRange) {
      if (!isThere) throw new ServiceError('SERVICE_UNAVAILABLE', 'wip/a.txt is being written right now.');
      yield Buffer.from(range ? text.slice(range.start, range.end + 1) : text);
    },
    close: async () => {
      if (!isClosed) open -= 1;
      isClosed = true;
    },
  };
}

function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function get(headers: Record<string, string> = {}) {
  const response = await edge.fetch(FILE, { token: edge.tokens.read, headers });
  return [response.status, response.headers.get('etag'), response.headers.get('content-range'), await response.text()];
}

describe('a file that is replaced before its first bytes are read', () => {
  it('is told as it is then, whole or in part, and never as a mixture', async () => {
    const tag = `"${sha(NEW)}"`;
    found = [OLD, NEW];
    expect(await get()).toEqual([200, tag, null, NEW]);
    found = [OLD, OLD, NEW];
    expect(await get({ range: 'bytes=5-' })).toEqual([206, tag, `bytes 5-16/17`, NEW.slice(5)]);
    found = [OLD, NEW];
    expect(await get({ range: 'bytes=5-', 'if-range': `"${sha(OLD)}"` })).toEqual([200, tag, null, NEW]);
  });

  it('is refused as to be tried again when that happens again and again', async () => {
    found = [OLD, OLD, OLD, NEW];
    const [status, , , body] = await get();
    expect([status, JSON.parse(String(body))]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }]);
  });
});
