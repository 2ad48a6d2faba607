import { createHash } from 'node:crypto';
import {
  applyFileChanges,
  beginPushes,
  type Caller,
  framed,
  lookAtRemote,
  type Push,
  type PushOutcome,
  scaffoldRemote,
  surveyRemote,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type CentreFixture, startCentre } from './central.fixture.js';

const KEY = 'acme';
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

let centre: CentreFixture;
let node: string;
let writer: Caller;
let device: Caller;

beforeAll(async () => {
  centre = await startCentre();
  writer = await centre.harness.user('Wanda');
  device = { ...writer, device_id: newId() };
  node = await centre.project();
  // The organization is hidden from all but those who manage; its project is not.
  await centre.sql(`UPDATE graph.node SET visibility = 'private' WHERE sync_key = $1`, [KEY]);
  await centre.sql(`UPDATE graph.node SET visibility = 'everyone' WHERE id = $1`, [node]);
  await centre.sql('SELECT graph.refresh_access(array_agg(id)) FROM graph.node');
});
afterEach(() => centre.main.failWith(null));
afterAll(() => centre[Symbol.asyncDispose]());

/** The key of the project, by which its folder is called. */
const folder = async (): Promise<string> => (await centre.folder(node)).slice(`${KEY}/`.length);

async function tracked(names: readonly string[]): Promise<string[]> {
  const changes = names.map((name) => ({
    kind: 'register' as const,
    path: `wip/${name}`,
    sha256: sha(name),
    size_bytes: name.length,
    mime_type: 'text/plain',
    modified_at: '2026-11-27T10:00:00.000Z',
  }));
  const input = { node_id: node, action: 'scan_mirror', changes, strict: true };
  const { results } = await centre.harness.call(applyFileChanges, input, device);
  return results.flatMap((result) => ('file' in result && result.file ? result.file.id : []));
}

/** Stores files whose content is their name. */
async function push(ids: readonly string[], names: readonly string[], caller: Caller): Promise<string> {
  const { transfer } = await centre.harness.call(beginPushes, { node_id: node }, caller);
  const contents = async function* () {
    for (const [index, name] of names.entries()) {
      const facts = { sha256: sha(name), size_bytes: name.length, modified_at: '2026-11-27T10:00:00.000Z' };
      const header: Push = { file_id: ids[index] ?? '', ...facts, builds_on: null };
      yield { header, bytes: Buffer.from(name) };
    }
  };
  const parts: Uint8Array[] = [];
  for await (const part of framed(contents())) parts.push(part);
  const headers = { authorization: `Bearer ${transfer.ticket}` };
  const response = await fetch(transfer.url, { method: 'PUT', headers, body: new Uint8Array(Buffer.concat(parts)) });
  return response.text();
}

const pathsIn = (answer: string): (string | undefined)[] =>
  (JSON.parse(answer) as { outcomes: PushOutcome[] }).outcomes.map(({ pushed }) => pushed?.remote_path);

describe('who does not see the organization of a node', () => {
  it('is told where files were stored from the node on [access.hidden.paths]', async () => {
    const names = ['one.txt', 'two.txt', 'there.txt'];
    const ids = await tracked(names);
    // What is there already is looked at by itself.
    centre.main.plant(`${KEY}/${await folder()}/wip/there.txt`, Buffer.from('there.txt'));
    const answer = await push(ids, names, writer);
    expect(pathsIn(answer)).toEqual(await Promise.all(names.map(async (name) => `${await folder()}/wip/${name}`)));
    expect(answer).not.toContain(KEY);
    expect(Object.keys(await centre.main.texts())).toContain(`${KEY}/${await folder()}/wip/one.txt`);
    const again = await push(ids, names, centre.admin);
    expect(pathsIn(again)).toEqual(
      await Promise.all(names.map(async (name) => `${KEY}/${await folder()}/wip/${name}`)),
    );
  });

  it.each(['forbidden', 'name_refused', 'too_large', 'full', 'unavailable'] as const)(
    'learns nothing of it from a storage that is %s [access.hidden.paths]',
    async (reason) => {
      const [id = ''] = await tracked([`${reason}.txt`]);
      await push([id], [`${reason}.txt`], writer);
      centre.main.failWith(reason);
      const answers = [
        await centre.harness.call(lookAtRemote, { file_ids: [id] }, device),
        await centre.harness.call(surveyRemote, { node_id: node }, device),
        await centre.harness.call(scaffoldRemote, { node_id: node }, device),
      ];
      const text = JSON.stringify(answers);
      // Each of them tells that something is wrong, and where.
      expect(text).toContain(reason === 'unavailable' ? 'cannot be reached' : `${await folder()}/`);
      expect(text).not.toContain(KEY);
    },
  );
});
