import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { basename, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createNode,
  deleteFile,
  type ErrorBody,
  getNode,
  listFiles,
  listRoutingRules,
  moveFile,
  revokeToken,
  searchFiles,
  setRoutingPolicy,
  setupRemote,
} from '@workspace-graph/contracts';
import { isTemporaryName } from '@workspace-graph/disk';
import { BACKENDS, type Clouds, startClouds } from './backends.js';
import { type CentralWorld, startWorld, until } from './central-world.js';
import type { RestClient } from './rest-client.js';

/** What a process may need more than idle, whatever the size of a content. */
const GROWTH_MB = 120;
const LARGE_MB = 400;
const MB = Buffer.alloc(1_000_000, 'workspace ');

let clouds: Clouds;
let world: CentralWorld;
let wanda: Awaited<ReturnType<CentralWorld['newcomer']>>;
/** The same person at the other gateway. */
let elsewhere: RestClient;
/** The storage of the organisation. */
let storage: string;
let node: string;

beforeAll(async () => {
  clouds = await startClouds();
  const replicas = { 'graph-svc': 1, 'session-svc': 1, gateway: 2, 'file-svc': 2 };
  world = await startWorld({ replicas, emulated: clouds.emulated });
  storage = join(world.central.volume('files'), 'folders', 'team');
  await mkdir(storage, { recursive: true });
  await world.ada.call(setupRemote, { name: 'team', type: 'fs', config: { folder: 'team' } });
  const rule = { priority: 100, node_type: null, org_slug: null, remote_name: 'team' };
  await world.ada.call(setRoutingPolicy, { rules: [rule] });
  wanda = await world.newcomer('Wanda', 'write');
  elsewhere = wanda.at(world.urls[1]);
});
beforeEach(async () => {
  const name = `Bakery ${Math.random()}`;
  const acme = await world.ada.call(createNode, { type: 'organization', name });
  ({ id: node } = await world.ada.call(createNode, { type: 'project', name, organization_id: acme.id }));
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await clouds?.[Symbol.asyncDispose]();
});

const sha = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const url = (path: string): string => `/nodes/${node}/file?path=${encodeURIComponent(path)}`;
const put = (who: RestClient, path: string, body: string, headers: Record<string, string>): Promise<Response> =>
  who.fetch(url(path), { method: 'PUT', body, headers: { 'content-type': 'application/octet-stream', ...headers } });
const json = async <T>(response: Response): Promise<T> => (await response.json()) as T;
const paths = async (who: RestClient): Promise<string[]> =>
  (await who.call(listFiles, { node_id: node })).items.map(({ path }) => path).sort();
/** Every file in the storage whose name or folder holds a text. */
const stored = async (text: string): Promise<string[]> =>
  (await readdir(storage, { recursive: true, withFileTypes: true })).flatMap((entry) =>
    entry.isFile() && entry.name.includes(text) ? [join(entry.parentPath, entry.name)] : [],
  );
const drafts = async (): Promise<string[]> => (await stored('.svc-')).filter((path) => isTemporaryName(basename(path)));
/** Waits until the file service has begun to store a content, besides what was left before. */
const untilItArrives = (before: readonly string[] = []) =>
  until('the content arrives', async () => (await drafts()).some((path) => !before.includes(path)));
/** A request whose body is written by hand. */
function slowly(who: RestClient, path: string) {
  const headers = {
    authorization: `Bearer ${who.token}`,
    'if-none-match': '*',
    'content-type': 'application/octet-stream',
  };
  const sent = request(new URL(url(path), who.url), { method: 'PUT', headers });
  const status = new Promise<number>((resolve) => {
    sent.once('response', (response) => resolve(response.resume().statusCode ?? 0));
    sent.once('error', () => resolve(0));
  });
  return { sent, status };
}

describe('files of a central workspace, for whoever has no workstation', () => {
  it('come and go as bytes, at whichever gateway and instance [files.central.on-the-remote]', async () => {
    const made = await put(wanda, 'wip/Plán.md', '# Plán\n', { 'if-none-match': '*' });
    expect([made.status, await json(made)]).toMatchObject([
      201,
      { file: { path: 'wip/Plán.md', sha256: sha('# Plán\n'), local_path: null } },
    ]);
    const read = await elsewhere.fetch(url('wip/Plán.md'));
    expect([read.status, read.headers.get('etag'), await read.text()]).toEqual([
      200,
      `"${sha('# Plán\n')}"`,
      '# Plán\n',
    ]);
    const part = await elsewhere.fetch(url('wip/Plán.md'), { headers: { range: 'bytes=2-3' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 2-3/8', 'Pl']);
    const known = await wanda.fetch(url('wip/Plán.md'), { headers: { 'if-none-match': `"${sha('# Plán\n')}"` } });
    expect(known.status).toBe(304);
    const again = await put(elsewhere, 'wip/Plán.md', 'no', { 'if-none-match': '*' });
    expect([again.status, await json(again)]).toMatchObject([409, { code: 'DESTINATION_EXISTS' }]);
    const other = await put(elsewhere, 'wip/Plán.md', '# Jiný\n', { 'if-match': `"${sha('# Plán\n')}"` });
    expect([other.status, await json(other)]).toMatchObject([200, { version: 2, file: { sha256: sha('# Jiný\n') } }]);
    const late = await put(wanda, 'wip/Plán.md', 'late', { 'if-match': `"${sha('# Plán\n')}"` });
    expect([late.status, late.headers.get('etag')]).toEqual([409, `"${sha('# Jiný\n')}"`]);
    expect(await Promise.all((await stored('Plán')).map((path) => readFile(path, 'utf8')))).toEqual(['# Jiný\n']);
  });

  it('are sent in forms, listed, found, moved and deleted', async () => {
    const form = new FormData();
    form.append('section', 'outputs');
    form.append('file', new Blob(['one']), 'one.txt');
    form.append('file', new Blob(['two']), 'two.txt');
    const sent = await wanda.fetch(`/nodes/${node}/files`, { method: 'POST', body: form });
    expect(sent.status).toBe(201);
    expect(await paths(elsewhere)).toEqual(['outputs/one.txt', 'outputs/two.txt']);
    const { hits } = await elsewhere.call(searchFiles, { query: 'two', node_id: node });
    expect(hits).toMatchObject([{ path: 'outputs/two.txt' }]);
    const { file_id = '' } = hits[0] ?? {};
    const moved = await wanda.call(moveFile, { node_id: node, file_id, new_section: 'resources', confirmed: true });
    expect(moved).toMatchObject({ applied: true });
    expect(await elsewhere.call(deleteFile, { node_id: node, file_id, confirmed: true })).toMatchObject({
      applied: true,
    });
    expect(await paths(wanda)).toEqual(['outputs/one.txt']);
    expect(await stored('two.txt')).toEqual([]);
  });

  it('are worked with by an agent, in the scope of its session', async () => {
    const client = new Client({ name: 'spec-agent', version: '1.2.3' });
    const requestInit = { headers: { authorization: `Bearer ${wanda.token}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${world.urls[1]}/mcp?home_node_id=${node}`), { requestInit }),
    );
    const tool = async (name: string, input: Record<string, unknown>): Promise<unknown> => {
      const { content, isError } = await client.callTool({ name, arguments: input });
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      return isError ? { refused: JSON.parse(text) as ErrorBody } : text;
    };
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('svc_mirror');
      await tool('svc_create_file', { node_id: node, filename: 'notes.md', content: 'flour and water' });
      expect(await tool('svc_read_file', { node_id: node, path: 'wip/notes.md' })).toContain('flour and water');
      expect(await tool('svc_list_files', { node_id: node })).toContain('notes.md');
      expect(await tool('svc_search_files', { query: 'notes' })).toContain('notes.md');
      const far = await world.ada.call(createNode, { type: 'organization', name: `Far ${Math.random()}` });
      expect(await tool('svc_read_file', { node_id: far.id, path: 'wip/notes.md' })).toMatchObject({
        refused: { code: 'scope_expansion_required' },
      });
    } finally {
      await client.close();
    }
    expect(await paths(wanda)).toEqual(['wip/notes.md']);
  });

  it('follow their node when it is hidden, also in the middle of a content [files.central.access]', async () => {
    const rita = await world.newcomer('Rita', 'write');
    const { sent, status } = slowly(rita, 'wip/secret.txt');
    sent.write(MB);
    await untilItArrives();
    await world.ada.call(revokeToken, { token_id: rita.tokenId });
    // Ended by the gateway, although the content has not come to its end.
    expect([0, 401]).toContain(await status);
    sent.destroy();
    expect(await paths(wanda)).toEqual([]);
    expect(await stored('secret')).toEqual([]);
  });
});

describe.each(BACKENDS)('files on a remote of the type $type', ({ type, missing, start }) => {
  (missing === null ? it : it.skip)(
    `are worked with like those in a folder${missing === null ? '' : `: ${missing}`}`,
    async () => {
      const { settings, stop } = await start(clouds);
      try {
        await world.ada.call(setupRemote, { name: type, ...settings });
        const before = await world.ada.call(listRoutingRules, {});
        const { organization } = await world.ada.call(getNode, { node_id: node });
        const { sync_key: org_slug } = await world.ada.call(getNode, { node_id: organization?.id ?? '' });
        const rule = { priority: 10, node_type: null, org_slug, remote_name: type };
        await world.ada.call(setRoutingPolicy, { rules: [...before.rules, rule] });
        const made = await put(wanda, 'wip/Plán.md', '# Plán', { 'if-none-match': '*' });
        expect([made.status, await json(made)]).toMatchObject([201, { file: { remote_name: type } }]);
        const twice = await put(elsewhere, 'wip/plán.md', 'twin', { 'if-none-match': '*' });
        expect(twice.status).toBe(409);
        const other = await put(elsewhere, 'wip/Plán.md', '# Jiný', { 'if-match': `"${sha('# Plán')}"` });
        expect([other.status, await json(other)]).toMatchObject([200, { version: 2 }]);
        expect(await (await wanda.fetch(url('wip/Plán.md'))).text()).toBe('# Jiný');
        const { items } = await elsewhere.call(listFiles, { node_id: node });
        const file_id = items[0]?.id ?? '';
        const moved = {
          node_id: node,
          file_id,
          new_section: 'outputs',
          new_filename: 'b.md',
          confirmed: true,
        } as const;
        expect(await wanda.call(moveFile, moved)).toMatchObject({ applied: true, file: { path: 'outputs/b.md' } });
        expect(await (await elsewhere.fetch(url('outputs/b.md'))).text()).toBe('# Jiný');
        expect(await elsewhere.call(deleteFile, { node_id: node, file_id, confirmed: true })).toMatchObject({
          applied: true,
        });
        expect((await wanda.fetch(url('outputs/b.md'))).status).toBe(404);
        await world.ada.call(setRoutingPolicy, { rules: before.rules });
      } finally {
        await stop();
      }
    },
  );
});

describe('a large content', () => {
  const memoryMb = (pid: number): number =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  const busiest = (): number[] =>
    ['gateway', 'file-svc'].flatMap((name) => world.central.instances(name).map(({ pid }) => memoryMb(pid)));

  it('passes through every process as a stream [sync.transfer.streaming]', async () => {
    await put(wanda, 'wip/first.bin', 'first', { 'if-none-match': '*' });
    const before = busiest();
    const hash = createHash('sha256');
    const { sent, status } = slowly(wanda, 'outputs/large.bin');
    for (let mb = 0; mb < LARGE_MB; mb += 1) {
      hash.update(MB);
      if (!sent.write(MB)) await new Promise((resolve) => sent.once('drain', resolve));
    }
    sent.end();
    expect(await status).toBe(201);
    const told = hash.digest('hex');
    const read = await elsewhere.fetch(url('outputs/large.bin'));
    expect(read.headers.get('etag')).toBe(`"${told}"`);
    const heard = createHash('sha256');
    for await (const chunk of read.body ?? []) heard.update(chunk);
    expect(heard.digest('hex')).toBe(told);
    const grown = busiest().map((mb, index) => mb - (before[index] ?? 0));
    expect(Math.max(...grown)).toBeLessThan(GROWTH_MB);
  });
});

describe('a process that is killed', () => {
  it('leaves a content whole or not at all, and the next call goes on [files.central.whole-or-nothing]', async () => {
    const kept = await put(wanda, 'wip/kept.txt', 'as before', { 'if-none-match': '*' });
    expect(kept.status).toBe(201);
    for (const instance of [...world.central.instances('file-svc')]) {
      const before = await drafts();
      const { sent, status } = slowly(wanda, `wip/${instance.name}.bin`);
      sent.write(MB);
      await untilItArrives(before);
      await instance.kill();
      // Ended by the gateway when it was this one; otherwise it goes on.
      sent.end();
      const answer = await status;
      expect([201, 503]).toContain(answer);
      expect(await stored(`${instance.name}.bin`)).toHaveLength(answer === 201 ? 1 : 0);
      await world.central.add('file-svc');
      const path = `wip/again-${instance.name}.bin`;
      await until(
        'a file service answers',
        async () => (await put(wanda, path, 'x', { 'if-none-match': '*' })).status === 201,
      );
    }
    expect(await (await elsewhere.fetch(url('wip/kept.txt'))).text()).toBe('as before');
  });
});
