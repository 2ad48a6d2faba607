import { type Envelope, type FileContent, ServiceError } from '@workspace-graph/contracts';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import { FilesModule } from './files.module.js';

const FILES = '/nodes/0197c2f0-0000-7000-8000-000000000001/files';
let edge: EdgeHarness;
/** Ids under which files were to be made, in their order. */
let callIds: string[];

const content: FileContent = {
  confirm: () => Promise.resolve(),
  open: () => Promise.reject(new Error('nothing is read here')),
  create: (_target, _bytes, _options, { callId }: Envelope) => {
    callIds.push(callId);
    return Promise.reject(new ServiceError('DESTINATION_EXISTS', 'The path is taken.'));
  },
  replace: () => Promise.reject(new Error('nothing is replaced here')),
};

beforeAll(async () => {
  edge = await startEdge({ imports: [FilesModule.forRoot({ content: { useValue: content } })] });
});
afterAll(() => edge.close());

async function send(key?: string) {
  callIds = [];
  const body = new FormData();
  for (const name of ['a.txt', 'b.txt']) body.append('file', new Blob([name]), name);
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const { status } = await edge.fetch(FILES, { method: 'POST', token: edge.tokens.write, body, headers });
  return { status, ids: callIds };
}

it('a form that is sent again with its key makes each of its files under the same id', async () => {
  const first = await send('again');
  expect(new Set(first.ids).size).toBe(2);
  expect(await send('again')).toEqual(first);
  const others = [await send('another'), await send(), await send()];
  expect(new Set([first, ...others].flatMap(({ ids }) => ids)).size).toBe(8);
  expect(await send('no key')).toEqual({ status: 400, ids: [] });
});
