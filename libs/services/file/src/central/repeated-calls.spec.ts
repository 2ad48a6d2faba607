import { createHash } from 'node:crypto';
import {
  adoptFiles,
  beginUpload,
  type Caller,
  createFile,
  deleteFile,
  type InputOf,
  moveFile,
  type Operation,
  type OutputOf,
  writeFile,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type CentreFixture, startCentre } from './central.fixture.js';

let centre: CentreFixture;
let writer: Caller;
let node: string;
beforeAll(async () => {
  centre = await startCentre();
  writer = await centre.harness.user('Wanda');
});
beforeEach(async () => {
  node = await centre.project();
});
afterAll(() => centre[Symbol.asyncDispose]());

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What lies on the remote below the node. */
async function stored(): Promise<Record<string, string>> {
  const folder = `${await centre.folder(node)}/`;
  const all = Object.entries(await centre.main.texts());
  return Object.fromEntries(
    all.flatMap(([path, text]) => (path.startsWith(folder) ? [[path.slice(folder.length), text]] : [])),
  );
}

/** What every record of the node tells of it. */
async function recorded(): Promise<Record<string, string | null>> {
  const rows = await centre.sql<{ path: string; hash: string | null }>(
    'SELECT path, current_remote_hash AS hash FROM file.record WHERE node_id = $1',
    [node],
  );
  return Object.fromEntries(rows.map(({ path, hash }) => [path, hash]));
}

/** Makes a call, lets somebody else go on, and makes it again under the same id. */
async function repeated<Op extends Operation>(
  operation: Op,
  input: InputOf<Op>,
  meanwhile: (first: OutputOf<Op>) => Promise<unknown>,
): Promise<void> {
  const callId = newId();
  const first = await centre.harness.call(operation, input, writer, callId);
  await meanwhile(first);
  const before = [await stored(), await recorded()];
  expect(await centre.harness.call(operation, input, writer, callId)).toEqual(first);
  expect([await stored(), await recorded()]).toEqual(before);
  expect(await centre.sql('SELECT kind FROM file.pending_op')).toEqual([]);
}

const create = (filename: string, content: string) =>
  centre.harness.call(createFile, { node_id: node, filename, content }, writer);
const write = (path: string, content: string, over: string) =>
  centre.harness.call(writeFile, { node_id: node, path, content, expected_sha256: sha(over) }, writer);
const move = (file_id: string, new_filename: string) =>
  centre.harness.call(moveFile, { file_id, new_filename, confirmed: true }, writer);

describe('a call whose answer was lost, and that is repeated when others have gone on [files.central.repeatable]', () => {
  it('makes no file again that was deleted or moved since', async () => {
    const input = { node_id: node, filename: 'a.txt', content: 'once' };
    await repeated(createFile, input, ({ id }) =>
      centre.harness.call(deleteFile, { file_id: id, confirmed: true }, writer),
    );
    expect(await stored()).toEqual({});
    await repeated(createFile, input, ({ id }) => move(id, 'b.txt'));
    expect(await stored()).toEqual({ 'wip/b.txt': 'once' });
  });

  it('takes no content again, and tells which file was made of it', async () => {
    const callId = newId();
    const send = async (content: string) => {
      const input = { node_id: node, path: 'wip/a.txt', if_match: null, text: false };
      const { transfer } = await centre.harness.call(beginUpload, input, writer, callId);
      const headers = { authorization: `Bearer ${transfer.ticket}` };
      const answer = await fetch(transfer.url, { method: 'PUT', headers, body: content });
      return { status: answer.status, file: (await answer.json()) as { readonly id: string } };
    };
    const first = await send('once');
    expect(first).toMatchObject({ status: 200, file: { path: 'wip/a.txt' } });
    expect(await send('once')).toEqual(first);
    await move(first.file.id, 'b.txt');
    expect(await send('once')).toEqual(first);
    expect(await stored()).toEqual({ 'wip/b.txt': 'once' });
  });

  it('replaces nothing again, also when the content is the one from before', async () => {
    const { path } = await create('a.txt', 'before');
    const input = { node_id: node, path, content: 'after', expected_sha256: sha('before') };
    await repeated(writeFile, input, () => write(path, 'before', 'after'));
    expect(await stored()).toEqual({ 'wip/a.txt': 'before' });
  });

  it('moves nothing again that was moved back', async () => {
    const { id } = await create('a.txt', 'content');
    await repeated(moveFile, { file_id: id, new_filename: 'b.txt', confirmed: true }, () => move(id, 'a.txt'));
    expect(await stored()).toEqual({ 'wip/a.txt': 'content' });
  });

  it('tells what it took in, and not that it is tracked already', async () => {
    centre.main.plant(`${await centre.folder(node)}/wip/a.txt`, Buffer.from('by hand'));
    await repeated(adoptFiles, { node_id: node, paths: ['wip/a.txt'] }, () => Promise.resolve());
  });
});
