import { Worker } from 'node:worker_threads';
import { type FileContent, ServiceError } from '@workspace-graph/contracts';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import { FilesModule } from './files.module.js';

const FILE = '/nodes/0197c2f0-0000-7000-8000-000000000001/file?path=wip/a.bin';
/** More than any buffer on the way holds. */
const SIZE_BYTES = 256 * 1_048_576;
/** Sends until it is answered, in a thread of its own: what the server does is not waited for. */
const CLIENT = `
  const { request } = require('node:http');
  const { parentPort, workerData: { url, headers, sizeBytes } } = require('node:worker_threads');
  const sent = request(url, { method: 'PUT', headers, agent: false });
  let left = sizeBytes;
  const tell = (outcome) => { left = 0; parentPort.postMessage(outcome); parentPort.close(); };
  sent.once('error', (error) => tell(error.code));
  sent.once('response', (response) => { tell(response.statusCode); sent.destroy(); });
  const chunk = Buffer.alloc(65_536);
  const send = () => { while (left > 0) { left -= chunk.length; if (!sent.write(chunk)) return void sent.once('drain', send); } };
  send();`;
let edge: EdgeHarness;

/** A storage that is full when some of it has come. */
const full: FileContent = {
  confirm: () => Promise.resolve(),
  open: () => Promise.reject(new Error('nothing is read here')),
  create: async (_target, bytes) => {
    let left = 4 * 1_048_576;
    for await (const chunk of bytes) {
      left -= chunk.length;
      if (left < 0) break;
    }
    throw new ServiceError('STORAGE_FULL', 'The remote team has no room for wip/a.bin.');
  },
  replace: () => Promise.reject(new Error('nothing is replaced here')),
};

beforeAll(async () => {
  edge = await startEdge({ imports: [FilesModule.forRoot({ content: { useValue: full } })] });
});
afterAll(() => edge.close());

async function upload(more: Readonly<Record<string, number>>): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${edge.tokens.write.text}`,
    'if-none-match': '*',
    'content-type': 'application/octet-stream',
    ...more,
  };
  const client = new Worker(CLIENT, {
    eval: true,
    workerData: { url: edge.url + FILE, headers, sizeBytes: SIZE_BYTES },
  });
  return await new Promise((resolve, reject) => client.once('message', resolve).once('error', reject));
}

it.each([
  ['announced', { 'content-length': SIZE_BYTES }],
  ['not announced', {}],
])('a refusal is heard while most of a long content, whose length was %s, is still to come', async (_how, length) => {
  const outcomes = [];
  for (let attempt = 0; attempt < 10; attempt += 1) outcomes.push(await upload(length));
  expect([...new Set(outcomes)]).toEqual([507]);
});
