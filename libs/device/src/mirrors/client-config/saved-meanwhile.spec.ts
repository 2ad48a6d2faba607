import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { createMirror, removeMirror } from '@workspace-graph/contracts';
import { type DeviceFixture, startDevice } from '../../testing/device.fixture.js';
import { OwnershipRecords } from './ownership.js';

const CLAUDE = '.mcp.json';
const SCOPE = 'SVC_SCOPE.md';
const OTHER = '{"mcpServers":{"other":{"command":"x"}}}';
const NEWER = '{"mcpServers":{"other":{"command":"y"},"third":{"command":"z"}}}';

/** The records are looked at for the person, then between reading and writing the file of the first agent. */
const FIRST_AGENT = 2;

/** Between reading a file and writing it the product looks at its records: another program saves at one of these looks. */
function saveAtLook(save: () => Promise<void>, isDue: (look: number) => boolean): () => number {
  const read = OwnershipRecords.prototype.read;
  let looks = 0;
  jest.spyOn(OwnershipRecords.prototype, 'read').mockImplementation(async function (this: OwnershipRecords, nodeId) {
    looks += 1;
    if (isDue(looks)) await save();
    return read.call(this, nodeId);
  });
  return () => looks;
}

describe('what another program saves in the same instant [mirrors.client-config.foreign-untouched]', () => {
  let port: number;
  let device: DeviceFixture;
  let nodeId: string;
  let folder: string;

  beforeEach(async () => {
    port = 4011;
    device = await startDevice({ settings: { mcpUrl: () => `http://127.0.0.1:${port}/mcp` } });
    ({ nodeId, path: folder } = await device.mirror('Alpha'));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await device.close();
  });

  const text = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');
  const states = async (): Promise<Record<string, string>> => {
    const { scope_config: files } = await device.call(createMirror, { node_id: nodeId }, device.person());
    return Object.fromEntries(files.map(({ path, state }) => [path, state]));
  };

  it.each([
    ['in its place', (path: string) => writeFile(path, NEWER)],
    [
      'by another file of its name',
      async (path: string) => {
        await writeFile(`${path}.new`, NEWER);
        await rename(`${path}.new`, path);
      },
    ],
  ])('%s stays, and our entry comes beside it', async (_how, save) => {
    await writeFile(join(folder, CLAUDE), OTHER);
    saveAtLook(
      () => save(join(folder, CLAUDE)),
      (look) => look === FIRST_AGENT,
    );
    expect(await states()).toMatchObject({ [CLAUDE]: 'written' });
    expect(Object.keys(JSON.parse(await text(CLAUDE)).mcpServers)).toEqual(['other', 'third', 'workspace-graph']);
  });

  it('stays where there was no file before', async () => {
    saveAtLook(
      () => writeFile(join(folder, CLAUDE), NEWER),
      (look) => look === FIRST_AGENT,
    );
    expect(await states()).toMatchObject({ [CLAUDE]: 'written' });
    expect(Object.keys(JSON.parse(await text(CLAUDE)).mcpServers)).toEqual(['other', 'third', 'workspace-graph']);
  });

  it('is left alone when it never ends', async () => {
    await writeFile(join(folder, CLAUDE), OTHER);
    let saves = 0;
    saveAtLook(
      async () => {
        saves += 1;
        await writeFile(join(folder, CLAUDE), JSON.stringify({ saves: 'x'.repeat(saves) }));
      },
      (look) => look >= FIRST_AGENT,
    );
    expect(await states()).toMatchObject({ [CLAUDE]: 'foreign' });
    expect(JSON.parse(await text(CLAUDE))).toEqual({ saves: 'x'.repeat(saves) });
  });

  it('stays when it is the SVC_SCOPE.md', async () => {
    await states();
    const looks = saveAtLook(
      () => Promise.resolve(),
      () => false,
    );
    expect(await states()).toMatchObject({ [SCOPE]: 'unchanged' });
    const last = looks();
    jest.restoreAllMocks();
    device.graph.details.set(nodeId, { description: 'Something new.' });
    saveAtLook(
      () => writeFile(join(folder, SCOPE), '# My own\n'),
      (look) => look === last,
    );
    expect(await states()).toMatchObject({ [SCOPE]: 'foreign' });
    expect(await text(SCOPE)).toBe('# My own\n');
  });

  it('stays when the folder is given up', async () => {
    await states();
    saveAtLook(
      () => writeFile(join(folder, CLAUDE), NEWER),
      (look) => look === 1,
    );
    await device.call(removeMirror, { node_id: nodeId });
    expect(await text(CLAUDE)).toBe(NEWER);
  });

  it('leaves nothing beside it when there was none, and our files are gone with the folder', async () => {
    await states();
    await device.call(removeMirror, { node_id: nodeId });
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('may come a moment later still: what an entry was added to is kept for a day', async () => {
    await writeFile(join(folder, CLAUDE), OTHER);
    await states();
    const asides = await readdir(join(device.root, '.svc/aside'));
    const texts = asides.map((name) => readFile(join(device.root, '.svc/aside', name), 'utf8'));
    expect(await Promise.all(texts)).toEqual([OTHER]);
  });

  it('is not waited for in files that are ours altogether', async () => {
    await states();
    port = 5022;
    expect(await states()).toMatchObject({ [CLAUDE]: 'written', '.codex/config.toml': 'written' });
    const names = await readdir(device.root, { recursive: true });
    expect(names.filter((name) => name.includes('aside'))).toEqual([]);
  });
});
