import { text } from 'node:stream/consumers';
import { remoteConformance } from '../conformance/remote.conformance.js';
import { bytesOf, failureOf, Stage } from '../conformance/stage.js';
import type { RemoteFile } from '../port/index.js';
import { driveWorld, openOn } from './drive.fixture.js';
import { DriveRemote } from './drive.remote.js';
import { PART_BYTES } from './drive-upload.js';
import { ACCOUNT, DriveServer } from './emulator/drive-server.fixture.js';
import { FOLDER } from './emulator/drive-store.fixture.js';

let server: DriveServer;
beforeAll(async () => {
  server = await DriveServer.start();
});
afterAll(() => server.close());

remoteConformance('drive', () => driveWorld(server), {}, 'network');

describe('a shared drive of Google as a remote', () => {
  let remote: DriveRemote;
  let stage: Stage;
  beforeEach(async () => {
    const world = await driveWorld(server);
    stage = new Stage(world);
    remote = world.remote;
  });

  const plant = (path: string, content: string) => server.store.plant(server.rootId, path, Buffer.from(content));
  const folder = (path: string) => server.store.plant(server.rootId, `${path}/x`, Buffer.from('x')).parents[0] ?? '';
  const isCall = (method: string, part: string) => (request: { method: string; url: URL }) =>
    request.method === method && request.url.pathname.includes(part);

  describe('credentials', () => {
    it('asks for another access token when the old one ended, also to write', async () => {
      server.expireTokens();
      const { revision } = await remote.write('a.txt', bytesOf('a'), { expected: null });
      server.expireTokens();
      expect(await remote.stat('a.txt')).toMatchObject({ revision });
    });

    it.each([
      ['another account', { ...ACCOUNT, email: 'other@project.iam.gserviceaccount.com' }],
      ['no key at all', { ...ACCOUNT, privateKey: 'none' }],
    ])('tells %s as refused', async (_what, account) => {
      const config = { driveId: server.store.driveId, rootFolderId: null, account };
      expect(await failureOf(DriveRemote.open(config, server.origins))).toBe('forbidden');
    });

    it('takes the clock of Google where ours is wrong', async () => {
      server.expireTokens();
      server.clockAheadMs = 3_600_000;
      expect(await remote.stat('a.txt')).toBeNull();
    });
  });

  it('takes a root that is gone for an outage, never for an empty remote', async () => {
    plant('a.txt', 'a');
    expect(await failureOf(openOn(server, 'none'))).toBe('unavailable');
    const root = server.store.at(server.rootId);
    if (!root) throw new Error('There is no root');
    server.store.change(root, { trashed: true }, null);
    expect([await failureOf(remote.stat('a.txt')), await failureOf(stage.listed(''))]).toEqual(
      Array(2).fill('unavailable'),
    );
  });

  it('is the whole drive where no folder is named', async () => {
    await using whole = await openOn(server, null);
    await whole.write('top.txt', bytesOf('top'), { expected: null });
    expect((await new Stage({ ...stage.world, remote: whole }).pathsIn('')).sort()).toEqual(['Root', 'top.txt']);
  });

  describe('a busy service', () => {
    it('passes on how long it asks to be left alone, and sends no write twice', async () => {
      await server.answer(429, { requests: 1, retryAfterSeconds: 7 });
      await expect(remote.stat('a.txt')).rejects.toMatchObject({
        reason: 'unavailable',
        facts: { retryAfterSeconds: 7 },
      });
      await server.answer(503, { requests: 2 });
      expect(await remote.stat('a.txt')).toBeNull();
      server.refusing = 'userRateLimitExceeded';
      expect(await failureOf(stage.put('a.txt', 'a'))).toBe('unavailable');
    });

    it('takes no search for whole that has looked at a part', async () => {
      plant('a.txt', 'a');
      server.isIncomplete = true;
      expect([await failureOf(stage.listed('')), await failureOf(remote.stat('b.txt'))]).toEqual(
        Array(2).fill('unavailable'),
      );
    });
  });

  describe('names, which are no keys', () => {
    it('takes folders of one name for one', async () => {
      plant('wip/a.txt', 'a');
      const twin = server.store.create({ name: 'wip', mimeType: FOLDER, parents: [server.rootId] }, null);
      server.store.plant(twin.id, 'b.txt', Buffer.from('b'));
      server.store.plant(twin.id, 'deep/c.txt', Buffer.from('c'));
      expect(await stage.pathsIn('', true)).toEqual(['wip', 'wip/a.txt', 'wip/b.txt', 'wip/deep', 'wip/deep/c.txt']);
      expect((await stage.listed('', true)).some(({ hasTwin }) => hasTwin)).toBe(false);
      expect([await stage.textOf('wip/b.txt'), await stage.textOf('wip/deep/c.txt')]).toEqual(['b', 'c']);
      await stage.put('wip/d.txt', 'd');
      await remote.remove('wip/b.txt', await stage.holding('wip/b.txt'));
      expect(await stage.pathsIn('wip')).toEqual(['wip/a.txt', 'wip/d.txt', 'wip/deep']);
      expect(await failureOf(remote.removeFolder('wip'))).toBe('exists');
    });

    it('takes the oldest of several files of one name, and lists them all', async () => {
      plant('wip/a.txt', 'first');
      const id = folder('wip');
      server.store.create({ name: 'a.txt', parents: [id] }, Buffer.from('second'));
      expect(await stage.textOf('wip/a.txt')).toBe('first');
      const twins = (await stage.listed('wip')).filter(({ path }) => path === 'wip/a.txt');
      expect(twins.map(({ hasTwin }) => hasTwin)).toEqual([true, true]);
      expect(await failureOf(stage.put('wip/a.txt', 'third'))).toBe('exists');
    });

    it('never reads what has a name that no path holds, nor shortcuts', async () => {
      const parents = [server.rootId];
      server.store.create({ name: 'a/b.txt', parents }, Buffer.from('x'));
      server.store.create({ name: 'link', parents, mimeType: 'application/vnd.google-apps.shortcut' }, null);
      expect((await stage.listed('')).map(({ kind }) => kind)).toEqual(['other', 'other']);
      expect(await remote.stat('a/b.txt')).toBeNull();
      expect(await failureOf(remote.read('link'))).toBe('not_found');
      expect(await failureOf(stage.put('link', 'x'))).toBe('exists');
    });

    it.each(["it's", 'back\\slash', '" or trashed = true or name = "'])('searches for %s as it is', async (name) => {
      const isName = !name.includes('\\');
      expect(isName ? await remote.stat(name) : await failureOf(remote.stat(name))).toBe(
        isName ? null : 'name_refused',
      );
    });

    it('makes one folder for many who write into it', async () => {
      await Promise.all([1, 2, 3, 4, 5, 6].map((number) => stage.put(`new/deep/${number}.txt`, `${number}`)));
      const made = server.store.childrenOf(server.rootId);
      expect([made.map(({ name }) => name), server.store.childrenOf(made[0]?.id ?? '').length]).toEqual([['new'], 1]);
      expect(await stage.pathsIn('new/deep')).toHaveLength(6);
    });
  });

  it('tells Drive of what kind a content is, which its search and its previews go by', async () => {
    const { id = '', revision } = await stage.put('a.md', '# A');
    await stage.put('a.md', '# B', revision);
    expect(server.store.at(id)?.mimeType).toBe('text/markdown');
  });

  describe('ids', () => {
    it('keeps the id and the older versions of what is replaced, and the id of what is moved', async () => {
      const first = await stage.put('a.txt', 'first');
      const second = await stage.put('a.txt', 'second', first.revision);
      const moved = await remote.move('a.txt', 'wip/b.txt', { expected: second.revision });
      expect([second.id, moved.id, moved.revision]).toEqual([first.id, first.id, second.revision]);
      expect(server.store.at(first.id ?? '')?.revisions.map(({ bytes }) => bytes.toString())).toEqual([
        'first',
        'second',
      ]);
    });

    it('looks at the folders that it knows, which others move, rename and remove', async () => {
      await stage.put('wip/deep/a.txt', 'a');
      const wip = server.store.at(folder('wip'));
      if (!wip) throw new Error('There is no folder');
      server.store.change(wip, { name: 'outputs' }, null);
      expect([await remote.stat('wip/deep/a.txt'), await stage.textOf('outputs/deep/a.txt')]).toEqual([null, 'a']);
      await stage.put('wip/deep/b.txt', 'b');
      expect(await stage.pathsIn('wip', true)).toEqual(['wip/deep', 'wip/deep/b.txt']);
      server.store.change(wip, { trashed: true }, null);
      expect(await remote.stat('outputs/deep/a.txt')).toBeNull();
      expect(await failureOf(stage.listed('outputs/deep'))).toBe('not_found');
    });

    it('finds what it wrote while searches are late', async () => {
      server.store.holdIndex();
      const first = await stage.put('new/deep/a.txt', 'first');
      expect(await failureOf(stage.put('new/deep/a.txt', 'again'))).toBe('exists');
      await stage.put('new/deep/a.txt', 'second', first.revision);
      await stage.put('new/deep/b.txt', 'b');
      expect(await stage.textOf('new/deep/a.txt')).toBe('second');
      await remote.move('new/deep/a.txt', 'new/c.txt', await stage.holding('new/deep/a.txt'));
      await remote.remove('new/deep/b.txt', await stage.holding('new/deep/b.txt'));
      expect([await stage.textOf('new/c.txt'), await remote.stat('new/deep/b.txt')]).toEqual(['second', null]);
      server.store.releaseIndex();
      expect(await stage.pathsIn('', true)).toEqual(['new', 'new/c.txt', 'new/deep']);
    });
  });

  describe('others who save in the same moment', () => {
    let file: RemoteFile;
    beforeEach(async () => {
      file = await stage.put('a.txt', 'first');
    });
    const saves = () => void plant('a.txt', 'of somebody else');

    it('gives a file its place back that was saved while it was moved', async () => {
      server.before(isCall('PATCH', '/files/'), saves);
      expect(await failureOf(remote.move('a.txt', 'wip/b.txt', { expected: file.revision }))).toBe('changed');
      expect([await stage.textOf('a.txt'), await stage.pathsIn('', true)]).toEqual([
        'of somebody else',
        ['a.txt', 'wip'],
      ]);
    });

    it('takes a file out of the trash that was saved while it was removed', async () => {
      server.before(isCall('PATCH', '/files/'), saves);
      expect(await failureOf(remote.remove('a.txt', { expected: file.revision }))).toBe('changed');
      expect(await stage.textOf('a.txt')).toBe('of somebody else');
    });

    it('leaves no copy of another content than was meant', async () => {
      server.before(isCall('POST', '/copy'), saves);
      expect(await failureOf(remote.copy('a.txt', 'b.txt', { expected: file.revision }))).toBe('changed');
      expect(await stage.pathsIn('')).toEqual(['a.txt']);
    });

    it('reads the revision that it has told, whatever is saved meanwhile', async () => {
      server.before(isCall('GET', '/revisions/'), saves);
      expect(await stage.textOf('a.txt')).toBe('first');
    });

    it('keeps a folder into which something comes while it is removed', async () => {
      await remote.makeFolder('empty');
      const [id = ''] = server.store
        .childrenOf(server.rootId)
        .flatMap((node) => (node.name === 'empty' ? [node.id] : []));
      server.before(isCall('PATCH', '/files/'), () => void server.store.plant(id, 'late.txt', Buffer.from('late')));
      expect(await failureOf(remote.removeFolder('empty'))).toBe('exists');
      expect(await stage.textOf('empty/late.txt')).toBe('late');
    });
  });

  describe('a long content', () => {
    const long = Buffer.alloc(3 * PART_BYTES + 1_000, 'a long content ').toString();

    it('goes on where the connection broke off', async () => {
      let parts = 0;
      server.before(
        ({ headers }) => headers['content-range']?.startsWith('bytes 4194304-') ?? false,
        () => {
          parts += 1;
          server.lose(1);
        },
      );
      await stage.put('a.txt', long);
      expect([parts, await stage.textOf('a.txt')]).toEqual([1, long]);
      expect(server.store.childrenOf(server.rootId)).toHaveLength(1);
    });

    it('goes on where Drive has taken less than it was sent', async () => {
      server.takesBytes = 1_048_576;
      await stage.put('a.txt', long);
      expect(await stage.textOf('a.txt')).toBe(long);
    });

    it('is there once when the last answer was lost', async () => {
      server.before(
        ({ headers }) => headers['content-range']?.endsWith(`/${long.length}`) ?? false,
        () => server.lose(1),
      );
      const { revision } = await stage.put('a.txt', long);
      expect(await stage.listed('')).toMatchObject([{ path: 'a.txt', revision }]);
    });

    it('goes nowhere else when its folder was moved meanwhile', async () => {
      const wip = server.store.at(folder('wip/deep'));
      if (!wip) throw new Error('There is no folder');
      server.before(isCall('PUT', '/upload/'), () => server.store.change(wip, { name: 'other' }, null));
      expect(await failureOf(stage.put('wip/deep/a.txt', long))).toBe('unavailable');
      expect([await stage.pathsIn('wip/other'), server.unfinished]).toEqual([['wip/other/x'], 0]);
    });

    it('keeps nothing of itself where something was saved meanwhile', async () => {
      server.before(isCall('PUT', '/upload/'), () => void plant('a.txt', 'of somebody else'));
      expect(await failureOf(stage.put('a.txt', long))).toBe('exists');
      expect([await stage.textOf('a.txt'), server.unfinished]).toEqual(['of somebody else', 0]);
    });

    it.each([PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES])('of %i bytes is whole', async (bytes) => {
      const { sizeBytes, hashes } = await stage.put('a.txt', long.slice(0, bytes));
      expect([sizeBytes, Object.keys(hashes).sort()]).toEqual([bytes, ['md5', 'sha1', 'sha256']]);
    });
  });

  describe('documents of Google', () => {
    const mimeType = 'application/vnd.google-apps.document';
    const make = (parent: string) =>
      server.store.create({ name: 'Plan', mimeType, parents: [parent] }, Buffer.from('plan'));

    const documentAt = async (id: string) => {
      const document = await remote.documents.find(id);
      if (!document) throw new Error('no document');
      return document;
    };

    it('are listed without bytes, and exported', async () => {
      const { id } = make(server.rootId);
      expect(await stage.listed('')).toMatchObject([{ kind: 'document', path: 'Plan', id, mediaType: mimeType }]);
      expect(await failureOf(remote.read('Plan'))).toBe('not_found');
      expect(await failureOf(remote.remove('Plan', { expected: '1' }))).toBe('not_found');
      const document = await documentAt(id);
      expect(document).toMatchObject({ path: 'Plan', formats: ['pdf', 'markdown', 'docx'] });
      expect(await text(await remote.documents.export(document, 'pdf'))).toBe('application/pdf: plan');
      expect(await text(await remote.documents.export(document, 'markdown'))).toBe('text/markdown: plan');
    });

    it('have the formats of their kind', async () => {
      const sheet = { name: 'Costs', mimeType: 'application/vnd.google-apps.spreadsheet', parents: [server.rootId] };
      const form = { ...sheet, name: 'Survey', mimeType: 'application/vnd.google-apps.form' };
      const document = await documentAt(server.store.create(sheet, Buffer.from('costs')).id);
      expect(document.formats).toEqual(['pdf']);
      expect(await text(await remote.documents.export(document, 'pdf'))).toBe('application/pdf: costs');
      expect((await documentAt(server.store.create(form, Buffer.from('')).id)).formats).toEqual([]);
    });

    it('are exported from nowhere else', async () => {
      expect(await remote.documents.find(make(server.store.driveId).id)).toBeNull();
      expect(await remote.documents.find('none')).toBeNull();
      const { id: file = '' } = await stage.put('a.txt', 'a');
      expect(await remote.documents.find(file)).toBeNull();
      const document = await documentAt(make(server.rootId).id);
      expect(await failureOf(remote.documents.export({ ...document, path: 'other/Plan' }, 'pdf'))).toBe('not_found');
    });
  });

  it('gives back what was removed last, and replaces nothing by it', async () => {
    for (const content of ['older', 'newer']) {
      const { revision: expected } = await stage.put('wip/a.txt', content);
      expect(await failureOf(remote.trash.restore('wip/a.txt'))).toBe('exists');
      await remote.remove('wip/a.txt', { expected });
    }
    await remote.trash.restore('wip/a.txt');
    expect(await stage.textOf('wip/a.txt')).toBe('newer');
    expect(await failureOf(remote.trash.restore('none/none.txt'))).toBe('not_found');
  });

  it('finds files by their words, below one folder and never above the root', async () => {
    for (const name of ['a', 'b', 'c']) await stage.put(`wip/${name}.txt`, `rye sourdough of ${name}`);
    await stage.put('other.txt', 'sourdough');
    server.store.plant(server.store.driveId, 'outside.txt', Buffer.from('sourdough'));
    expect(await remote.search.find('sourdough', { folder: 'wip', limit: 10 })).toHaveLength(3);
    expect(await remote.search.find('rye sourdough', { folder: '', limit: 10 })).toHaveLength(3);
    expect([...(await remote.search.find('sourdough', { folder: '', limit: 10 }))].sort()).toEqual([
      'other.txt',
      'wip/a.txt',
      'wip/b.txt',
      'wip/c.txt',
    ]);
    expect(await remote.search.find('sourdough', { folder: '', limit: 2 })).toHaveLength(2);
    expect(await remote.search.find(`wheat ' "`, { folder: '', limit: 2 })).toEqual([]);
    expect(await remote.search.find(' ', { folder: '', limit: 2 })).toEqual([]);
  });
});
