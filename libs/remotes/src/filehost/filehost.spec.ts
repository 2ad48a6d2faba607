import { remoteConformance } from '../conformance/remote.conformance.js';
import { bytesOf, failureOf, Stage } from '../conformance/stage.js';
import type { ChangePage } from '../port/index.js';
import { CREDENTIALS, DropboxServer } from './emulator/dropbox-server.fixture.js';
import { filehostWorld, openOn } from './filehost.fixture.js';
import { FilehostRemote } from './filehost.remote.js';

let server: DropboxServer;
beforeAll(async () => {
  server = await DropboxServer.start();
});
afterAll(() => server.close());

remoteConformance('filehost', () => filehostWorld(server), {}, 'network');

describe('a folder of Dropbox as a remote', () => {
  let remote: FilehostRemote;
  let stage: Stage;
  beforeEach(async () => {
    const world = await filehostWorld(server);
    stage = new Stage(world);
    remote = await openOn(server);
  });

  async function changesSince(moment: string): Promise<ChangePage> {
    const paths: string[] = [];
    let last = moment;
    for await (const page of remote.changes.since(last)) {
      if (page.paths === 'everything') return page;
      paths.push(...page.paths);
      last = page.moment;
    }
    return { paths: paths.sort(), moment: last };
  }

  it('asks for another access token when the old one ended, also to write', async () => {
    server.expireTokens();
    const { revision } = await remote.write('a.txt', bytesOf('a'), { expected: null });
    expect(await remote.stat('a.txt')).toMatchObject({ revision });
  });

  it('tells credentials and a root that are refused', async () => {
    const origins = { api: server.origin, content: server.origin };
    const wrong = { ...CREDENTIALS, refreshToken: 'another', rootPath: '' };
    expect(await failureOf(FilehostRemote.open(wrong, origins))).toBe('forbidden');
    expect(await failureOf(openOn(server, '/None'))).toBe('unavailable');
    server.unplant('/Root');
    expect([await failureOf(remote.stat('a.txt')), await failureOf(stage.listed(''))]).toEqual(
      Array(2).fill('unavailable'),
    );
  });

  it('passes on how long Dropbox asks to be left alone, and sends no write twice', async () => {
    await server.answer(429, { requests: 1, retryAfterSeconds: 7 });
    await expect(remote.stat('a.txt')).rejects.toMatchObject({
      reason: 'unavailable',
      facts: { path: 'a.txt', retryAfterSeconds: 7 },
    });
    await server.answer(503, { requests: 2 });
    expect(await remote.stat('a.txt')).toBeNull();
    await server.answer(503, { requests: 1 });
    const before = server.requests;
    expect(await failureOf(remote.write('a.txt', bytesOf('a'), { expected: null }))).toBe('unavailable');
    expect(server.requests).toBe(before + 1);
  });

  it('tells a content that is cut short', async () => {
    await stage.put('a.txt', 'x'.repeat(1_000_000));
    await server.cut({ direction: 'down', bytes: 200_000 });
    expect(await failureOf(stage.textOf('a.txt'))).toBe('unavailable');
  });

  it('refuses names that Dropbox keeps for itself', async () => {
    expect(await failureOf(stage.put('.dropbox', 'x'))).toBe('name_refused');
  });

  it('goes on with an upload after a break, and on no other offset', async () => {
    const upload = await remote.uploads.begin('a.txt', {});
    expect(await remote.uploads.append(upload, 0, bytesOf('first '))).toBe(6);
    expect(await failureOf(remote.uploads.append(upload, 0, bytesOf('again')))).toBe('changed');
    expect(await remote.uploads.received(upload)).toBe(6);
    expect(await remote.stat('a.txt')).toBeNull();
    await remote.uploads.append(upload, 6, bytesOf('second'));
    await remote.uploads.finish(upload, { expected: null });
    expect(await stage.textOf('a.txt')).toBe('first second');
    expect(await failureOf(remote.uploads.received(upload))).toBe('not_found');
  });

  it('keeps an upload whose place is taken, until it is abandoned', async () => {
    await stage.put('a.txt', 'there');
    const upload = await remote.uploads.begin('a.txt', {});
    expect(await failureOf(remote.uploads.finish(upload, { expected: null }))).toBe('exists');
    expect(await remote.uploads.received(upload)).toBe(0);
    await remote.uploads.abandon(upload);
    await remote.uploads.abandon(upload);
    expect(await failureOf(remote.uploads.received(upload))).toBe('not_found');
  });

  it('tells what changed since a moment, and when it cannot', async () => {
    const moment = await remote.changes.now();
    const { revision: expected } = await stage.put('wip/a.txt', 'a');
    const first = await changesSince(moment);
    expect(first.paths).toEqual(['wip', 'wip/a.txt']);
    await remote.remove('wip/a.txt', { expected });
    expect((await changesSince(first.moment)).paths).toEqual(['wip/a.txt']);
    server.files.forgetCursors();
    expect((await changesSince(first.moment)).paths).toBe('everything');
  });

  it('gives back what was removed, and replaces nothing by it', async () => {
    const { revision: expected } = await stage.put('a.txt', 'kept');
    expect(await failureOf(remote.trash.restore('a.txt'))).toBe('exists');
    await remote.remove('a.txt', { expected });
    await remote.trash.restore('a.txt');
    expect(await stage.textOf('a.txt')).toBe('kept');
    expect(await failureOf(remote.trash.restore('none.txt'))).toBe('not_found');
  });

  it('finds files by their words, below one folder', async () => {
    for (const name of ['a', 'b', 'c']) await stage.put(`wip/${name}.txt`, `sourdough of ${name}`);
    await stage.put('other.txt', 'sourdough');
    expect(await remote.search.find('sourdough', { folder: 'wip', limit: 10 })).toHaveLength(3);
    expect(await remote.search.find('sourdough', { folder: '', limit: 2 })).toHaveLength(2);
    expect(await remote.search.find('rye', { folder: '', limit: 2 })).toEqual([]);
  });
});
