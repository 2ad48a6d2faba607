import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { keptBytes } from '@workspace-graph/testing';
import { type FileRoutes, startFileRoutes, temporariesIn } from './file-routes.fixture.js';

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const tag = (bytes: string | Uint8Array) => `"${sha256(bytes)}"`;
const REFUSED = new Set([400, 404]);
const codeOf = async (answer: Response) => ((await answer.json()) as { code: string }).code;
const SPARSE_BYTES = Number(process.env['SVC_SPARSE_BYTES'] ?? 192 * 1_048_576);

describe('the bytes of files over HTTP', () => {
  let routes: FileRoutes;

  beforeAll(async () => {
    routes = await startFileRoutes();
  });
  afterAll(async () => {
    expect(await leftOvers()).toEqual([]);
    const startMs = performance.now();
    await routes[Symbol.asyncDispose]();
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });

  const url = (path: string, more = '') => `/nodes/${routes.nodeId}/file?path=${encodeURIComponent(path)}${more}`;
  const save = async (name: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(join(routes.path, name, '..'), { recursive: true });
    await writeFile(join(routes.path, name), content);
  };
  const onDisk = (name: string) => readFile(join(routes.path, name), 'utf8');
  const get = (path: string, headers: Record<string, string> = {}, more = '') =>
    routes.edge.fetch(url(path, more), { token: routes.edge.tokens.read, headers });
  const put = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    routes.edge.fetch(url(path), { method: 'PUT', token: routes.edge.tokens.write, headers, body });
  const upload = (form: FormData, path = `/nodes/${routes.nodeId}/files`) =>
    routes.edge.fetch(path, { method: 'POST', token: routes.edge.tokens.write, body: form });
  const leftOvers = () => temporariesIn(routes.path);

  describe('GET', () => {
    it('answers the content with its hash as ETag, and 304 to who has it [files.read.route]', async () => {
      await save('wip/plan.md', 'Žluťoučký');
      const answer = await get('wip/plan.md');

      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe('Žluťoučký');
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        etag: tag('Žluťoučký'),
        'content-type': 'text/markdown; charset=utf-8',
        'content-length': '13',
        'accept-ranges': 'bytes',
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-cache',
      });
      for (const header of [tag('Žluťoučký'), `"x", W/${tag('Žluťoučký')}`, '*']) {
        const unchanged = await get('wip/plan.md', { 'if-none-match': header });
        expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
      }
      const init = { method: 'HEAD', token: routes.edge.tokens.read, headers: { 'if-none-match': '*' } };
      const head = await routes.edge.fetch(url('wip/plan.md'), init);
      expect([head.status, head.headers.get('content-length')]).toEqual([304, null]);
      expect((await get('wip/plan.md', { 'if-none-match': '"other"' })).status).toBe(200);
    });

    it('answers HEAD with the headers alone', async () => {
      await save('wip/head.txt', '12345');
      const answer = await routes.edge.fetch(url('wip/head.txt'), { method: 'HEAD', token: routes.edge.tokens.read });

      expect([
        answer.status,
        answer.headers.get('content-length'),
        answer.headers.get('etag'),
        await answer.text(),
      ]).toEqual([200, '5', tag('12345'), '']);
    });

    it.each([
      ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
      ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
      ['bytes=-3', 206, '789', 'bytes 7-9/10'],
      ['bytes=-30', 206, '0123456789', 'bytes 0-9/10'],
      ['bytes=9-9', 206, '9', 'bytes 9-9/10'],
      ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
      ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
      ['bytes=5-4', 200, '0123456789', null],
      ['bytes=0-1,4-5', 200, '0123456789', null],
      ['bytes=', 200, '0123456789', null],
      ['bytes=a-b', 200, '0123456789', null],
      ['lines=0-1', 200, '0123456789', null],
    ])('answers Range %s with %i [files.read.route]', async (range, status, body, contentRange) => {
      await save('wip/ten.txt', '0123456789');
      const answer = await get('wip/ten.txt', { range });

      expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([
        status,
        body,
        contentRange,
      ]);
      expect(answer.headers.get('content-length')).toBe(String(body.length));
    });

    it.each(['bytes=10-', 'bytes=10-20', 'bytes=999999999999999-', 'bytes=-0'])(
      'refuses Range %s, in which no byte lies [files.read.route]',
      async (range) => {
        await save('wip/ten.txt', '0123456789');
        const answer = await get('wip/ten.txt', { range });

        expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */10']);
        expect(await answer.json()).toMatchObject({ code: 'RANGE_NOT_SATISFIABLE', details: { size_bytes: 10 } });
      },
    );

    it('answers a range only of the content that If-Range names [files.read.route]', async () => {
      await save('wip/ten.txt', '0123456789');

      expect((await get('wip/ten.txt', { range: 'bytes=0-1', 'if-range': tag('0123456789') })).status).toBe(206);
      expect((await get('wip/ten.txt', { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
    });

    it('answers an empty file', async () => {
      await save('wip/empty.txt', '');
      const answer = await get('wip/empty.txt');

      expect([answer.status, await answer.text(), answer.headers.get('etag')]).toEqual([200, '', tag('')]);
      expect((await get('wip/empty.txt', { range: 'bytes=0-' })).status).toBe(416);
    });

    it.each([
      ['page.html', 'text/html; charset=utf-8', 'attachment'],
      ['drawing.svg', 'image/svg+xml; charset=utf-8', 'attachment'],
      ['feed.xml', expect.stringMatching(/xml; charset=utf-8$/), 'attachment'],
      ['paper.pdf', 'application/pdf', 'attachment'],
      ['photo.png', 'image/png', 'inline'],
      ['unknown.qqq', 'application/octet-stream', 'attachment'],
    ])('keeps a browser from running %s', async (name, type, how) => {
      await save(`resources/${name}`, '<script>1</script>');
      const { headers } = await get(`resources/${name}`);

      expect(headers.get('content-type')).toEqual(type);
      expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
      expect(headers.get('content-disposition')).toBe(`${how}; filename="${name}"; filename*=UTF-8''${name}`);
    });

    it.each([
      ['page.html', /^sandbox; default-src 'none'.*frame-ancestors 'self'/, 'SAMEORIGIN', 'inline'],
      ['paper.pdf', /^default-src 'none'.*frame-ancestors 'self'.*object-src 'self'/, 'SAMEORIGIN', 'inline'],
      ['drawing.svg', /^sandbox; default-src 'none'.*frame-ancestors 'none'/, 'DENY', 'attachment'],
      ['notes.txt', /^sandbox; default-src 'none'.*frame-ancestors 'none'/, 'DENY', 'inline'],
    ])(
      'lets a frame of this origin show %s as a preview where it can run nothing',
      async (name, policy, frame, how) => {
        await save(`resources/${name}`, '<script>1</script>');
        const { headers } = await get(`resources/${name}`, {}, '&preview=true');

        expect(headers.get('content-security-policy')).toMatch(policy);
        expect(headers.get('content-security-policy')).not.toContain('script');
        expect(headers.get('x-frame-options')).toBe(frame);
        expect(headers.get('content-disposition')).toMatch(new RegExp(`^${how}; `));
        expect(headers.get('x-content-type-options')).toBe('nosniff');
      },
    );

    it('names a file in every alphabet', async () => {
      await save('wip/příloha "x" (1)*.txt', 'x');
      const header = (await get('wip/příloha "x" (1)*.txt')).headers.get('content-disposition');

      expect(header).toBe(
        'inline; filename="p__loha _x_ (1)*.txt"; filename*=UTF-8\'\'p%C5%99%C3%ADloha%20%22x%22%20%281%29%2A.txt',
      );
    });

    it('streams a large file with constant memory', async () => {
      await save('resources/sparse.bin', '');
      await truncate(join(routes.path, 'resources/sparse.bin'), SPARSE_BYTES);
      await utimes(join(routes.path, 'resources/sparse.bin'), 1, 1);
      const before = keptBytes();
      let most = 0;
      let sizeBytes = 0;
      const answer = await get('resources/sparse.bin');
      const body: AsyncIterable<Uint8Array> = answer.body as ReadableStream<Uint8Array>;
      for await (const chunk of body) {
        sizeBytes += chunk.length;
        if (sizeBytes % (16 * 1_048_576) < chunk.length) most = Math.max(most, keptBytes());
      }

      expect(sizeBytes).toBe(SPARSE_BYTES);
      expect((most - before) / 1_048_576).toBeLessThan(32);
      const end = await get('resources/sparse.bin', { range: `bytes=${SPARSE_BYTES - 2}-` });
      expect([...new Uint8Array(await end.arrayBuffer())]).toEqual([0, 0]);
    });

    it('breaks off rather than mix two contents of a file that is changed meanwhile', async () => {
      const name = 'resources/changing.bin';
      await save(name, Buffer.alloc(24 * 1_048_576, 'a'));
      const answer = await get(name);
      const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      await using handle = await open(join(routes.path, name), 'r+');
      await handle.write('b', 24 * 1_048_576 - 1);
      const rest = async () => {
        while (!(await reader.read()).done);
      };

      await expect(rest()).rejects.toThrow('terminated');
      expect((await get(name, { range: 'bytes=-1' })).headers.get('etag')).not.toBe(answer.headers.get('etag'));
    });

    it('answers the new content after a change on disk that nobody has told of', async () => {
      await save('wip/edited.txt', 'one');
      expect((await get('wip/edited.txt')).headers.get('etag')).toBe(tag('one'));
      await save('wip/edited.txt', 'two');

      expect((await get('wip/edited.txt')).headers.get('etag')).toBe(tag('two'));
    });
  });

  describe('hostile requests', () => {
    it('never leave the folder, and are refused with a reason [files.path.segments-refused, files.path.symlinks-not-followed]', async () => {
      await writeFile(join(routes.device.root, 'secret.txt'), 'secret');
      await symlink(join(routes.device.root, 'secret.txt'), join(routes.path, 'wip/link.txt'));
      await symlink(routes.device.root, join(routes.path, 'wip/out'));
      const base = `/nodes/${routes.nodeId}/file`;
      const targets = [
        '?path=wip/../../../../secret.txt',
        '?path=wip%2F..%2F..%2F..%2F..%2Fsecret.txt',
        '?path=wip/%2e%2e/%2e%2e/secret.txt',
        '?path=wip%5C..%5Csecret.txt',
        '?path=wip/a%00.txt',
        '?path=%2Fetc%2Fpasswd',
        '?path=wip/link.txt',
        '?path=wip/out/secret.txt',
        '?path=wip/%0d%0ax.txt',
        '?path=',
        '',
        '?path=wip/a&path=wip/b',
        '?path=wip/a&node_id=1',
        '?path=wip/%ff%fe',
        '?path=.svc/sync.db',
        '?path=wip',
        '?path=wip/',
        `?path=wip/${'a'.repeat(5_000)}`,
      ];

      for (const method of ['GET', 'HEAD', 'PUT'])
        for (const target of targets) {
          const { status, body } = await routes.raw(base + target, method);
          expect([method, target, REFUSED.has(status)]).toEqual([method, target, true]);
          expect(body).not.toContain('secret\n');
          expect(body).not.toContain(routes.device.root);
        }
      for (const target of [
        '/nodes/..%2f..%2fetc/file?path=wip/a',
        '/nodes/%00/file?path=wip/a',
        `${base}/../file?path=x`,
      ])
        expect([target, REFUSED.has((await routes.raw(target)).status)]).toEqual([target, true]);
    });

    it('learn nothing of a hidden node [errors.file-not-found]', async () => {
      const { records } = routes.device;
      const hidden = records.node({ name: 'Hidden', seenBy: new Set() });
      const absent = '01890000-0000-7000-8000-00000000fffd';
      const ask = async (nodeId: string, method: string, token: 'read' | 'write') => {
        const answer = await routes.edge.fetch(`/nodes/${nodeId}/file?path=wip/x.md`, {
          method,
          token: routes.edge.tokens[token],
          ...(method === 'PUT' ? { body: 'x', headers: { 'if-none-match': '*' } } : {}),
        });
        const { request_id, ...body } = (await answer.json()) as Record<string, unknown>;
        return [answer.status, JSON.stringify(body).replaceAll(nodeId, 'ID')];
      };

      expect(await ask(hidden, 'GET', 'read')).toEqual(await ask(absent, 'GET', 'read'));
      expect(await ask(hidden, 'PUT', 'write')).toEqual(await ask(absent, 'PUT', 'write'));
      expect((await ask(hidden, 'GET', 'read'))[0]).toBe(404);
    });

    it('need a credential of the tier', async () => {
      expect((await routes.edge.fetch(url('wip/plan.md'))).status).toBe(401);
      const written = await routes.edge.fetch(url('wip/no.md'), {
        method: 'PUT',
        token: routes.edge.tokens.read,
        headers: { 'if-none-match': '*' },
        body: 'x',
      });
      expect(written.status).toBe(403);
    });

    it('are told that a node has no folder here [errors.no-mirror]', async () => {
      const bare = routes.device.records.node({ name: 'Bare' });
      const answer = await routes.edge.fetch(`/nodes/${bare}/file?path=wip/x.md`, { token: routes.edge.tokens.read });

      expect([answer.status, await answer.json()]).toEqual([409, expect.objectContaining({ code: 'NO_MIRROR' })]);
    });
  });

  describe('PUT', () => {
    it('makes a file where nothing lies, and replaces the content that the ETag names [files.write.route]', async () => {
      const made = await put('wip/new/letter.md', 'one', { 'if-none-match': '*', 'content-type': 'text/markdown' });
      expect([made.status, made.headers.get('etag')]).toEqual([201, tag('one')]);
      expect(await made.json()).toMatchObject({
        version: 1,
        file: { path: 'wip/new/letter.md', sha256: sha256('one') },
      });

      const replaced = await put('wip/new/letter.md', 'two', { 'if-match': tag('one') });
      expect([replaced.status, replaced.headers.get('etag')]).toEqual([200, tag('two')]);
      expect(await onDisk('wip/new/letter.md')).toBe('two');
    });

    it('changes nothing under an ETag that holds no more, and tells the current one [files.write.route]', async () => {
      await put('wip/stale.md', 'mine', { 'if-none-match': '*' });
      const answer = await put('wip/stale.md', 'yours', { 'if-match': tag('older') });

      expect([answer.status, answer.headers.get('etag')]).toEqual([409, tag('mine')]);
      expect(await answer.json()).toMatchObject({
        code: 'CONFLICT',
        details: { current: { sha256: sha256('mine'), size_bytes: 4 } },
      });
      expect(await onDisk('wip/stale.md')).toBe('mine');
      expect(await leftOvers()).toEqual([]);
    });

    it('sees an edit on disk that nobody has told of [files.write.route]', async () => {
      await put('wip/edit.md', 'mine', { 'if-none-match': '*' });
      await save('wip/edit.md', 'edited');

      expect((await put('wip/edit.md', 'yours', { 'if-match': tag('mine') })).status).toBe(409);
      expect(await onDisk('wip/edit.md')).toBe('edited');
    });

    it.each<[string, Record<string, string>, string]>([
      ['without a condition', {}, 'If-Match'],
      ['with any content as condition', { 'if-match': '*' }, 'If-Match'],
      ['with a weak tag', { 'if-match': 'W/"1"' }, 'If-Match'],
      ['with a version', { 'if-match': '"7"' }, 'If-Match'],
      ['with both conditions', { 'if-match': tag('x'), 'if-none-match': '*' }, 'If-None-Match'],
      ['with a tag that must not be', { 'if-none-match': tag('x') }, 'If-None-Match'],
    ])('is refused %s', async (_name, headers, field) => {
      await save('wip/kept.md', 'kept');
      const answer = await put('wip/kept.md', 'x', headers);

      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: 'VALIDATION_FAILED', details: { issues: [{ path: field }] } });
      expect(await onDisk('wip/kept.md')).toBe('kept');
    });

    it('never overwrites with If-None-Match [errors.destination-exists]', async () => {
      await save('wip/taken.md', 'first');
      const answer = await put('wip/taken.md', 'second', { 'if-none-match': '*' });

      expect([answer.status, await codeOf(answer), await onDisk('wip/taken.md')]).toEqual([
        409,
        'DESTINATION_EXISTS',
        'first',
      ]);
    });

    it('writes text only as text [errors.not-editable]', async () => {
      const binary = Buffer.from([0, 1, 2, 255]);
      await save('wip/image.bin', binary);
      const onto = await put('wip/image.bin', 'text', { 'if-match': tag(binary), 'content-type': 'text/plain' });
      expect([onto.status, await codeOf(onto)]).toEqual([415, 'NOT_EDITABLE']);
      const notText = await put('wip/not-text.md', binary, { 'if-none-match': '*', 'content-type': 'text/markdown' });
      expect([notText.status, await codeOf(notText)]).toEqual([415, 'NOT_EDITABLE']);

      const bytes = { 'if-match': tag(binary), 'content-type': 'application/octet-stream' };
      expect((await put('wip/image.bin', 'text', bytes)).status).toBe(200);
      expect(await leftOvers()).toEqual([]);
    });

    it('takes JSON as it is, without reading it', async () => {
      const json = '{"a":1,\n "a":2}';
      expect(
        (await put('wip/data.json', json, { 'if-none-match': '*', 'content-type': 'application/json' })).status,
      ).toBe(201);
      expect(await onDisk('wip/data.json')).toBe(json);
    });

    it('lets one of two writers through, whoever it is', async () => {
      await put('wip/race.md', 'start', { 'if-none-match': '*' });
      const answers = await Promise.all(
        ['one', 'two'].map((body) => put('wip/race.md', body, { 'if-match': tag('start') })),
      );

      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      const winner = answers[0]?.status === 200 ? 'one' : 'two';
      expect(await onDisk('wip/race.md')).toBe(winner);
    });

    it('refuses at once what is announced as too large', async () => {
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(routes.edge.port, '127.0.0.1');
        socket.on('error', reject).on('data', (chunk) => {
          resolve(chunk.toString());
          socket.destroy();
        });
        socket.write(
          `PUT ${url('wip/huge.bin')} HTTP/1.1\r\nHost: 127.0.0.1:${routes.edge.port}\r\nAuthorization: Bearer ${routes.edge.tokens.write.text}\r\nIf-None-Match: *\r\nContent-Length: ${9 * 1_024 ** 3}\r\n\r\n`,
        );
      });

      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer).toContain('PAYLOAD_TOO_LARGE');
    });
  });

  describe('POST', () => {
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      routes.edge.fetch(`/nodes/${routes.nodeId}/files`, {
        method: 'POST',
        token: routes.edge.tokens.write,
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    const form = (fields: Record<string, string>, files: Record<string, string>): FormData => {
      const made = new FormData();
      for (const [name, value] of Object.entries(fields)) made.append(name, value);
      for (const [name, value] of Object.entries(files)) made.append('file', new Blob([value]), name);
      return made;
    };

    it('makes a file of JSON [files.create.rest]', async () => {
      const answer = await post({ filename: 'note.md', section: 'outputs', subpath: 'a/b', content: 'text' });

      expect([answer.status, await answer.json()]).toEqual([
        201,
        expect.objectContaining({ path: 'outputs/a/b/note.md', status: 'output', sha256: sha256('text') }),
      ]);
      expect(await onDisk('outputs/a/b/note.md')).toBe('text');
    });

    it('makes a file of a form, under its own name or another [files.create.rest]', async () => {
      const own = await upload(form({ section: 'resources', subpath: 'in' }, { 'own name.bin': 'bytes' }));
      expect([own.status, await own.json()]).toEqual([
        201,
        expect.objectContaining({ path: 'resources/in/own name.bin', size_bytes: 5 }),
      ]);
      const other = await upload(form({ filename: 'given.bin' }, { 'own.bin': 'bytes' }));
      expect(await other.json()).toMatchObject({ path: 'wip/given.bin' });
    });

    it('answers for each of several files, and one that fails leaves nothing of itself [files.create.rest]', async () => {
      await save('wip/several-b.txt', 'there before');
      const answer = await upload(
        form({}, { 'several-a.txt': 'a', 'several-b.txt': 'b', 'con.txt': 'c', 'several-d.txt': 'd'.repeat(300_000) }),
      );
      const { files } = (await answer.json()) as { files: { filename: string; file: unknown; error: unknown }[] };

      expect(answer.status).toBe(201);
      expect(files).toMatchObject([
        { filename: 'several-a.txt', file: { path: 'wip/several-a.txt' }, error: null },
        { filename: 'several-b.txt', file: null, error: { code: 'DESTINATION_EXISTS' } },
        { filename: 'con.txt', file: null, error: { code: 'VALIDATION_FAILED' } },
        { filename: 'several-d.txt', file: { size_bytes: 300_000 }, error: null },
      ]);
      expect(await onDisk('wip/several-b.txt')).toBe('there before');
      expect(await leftOvers()).toEqual([]);
    });

    it.each<[string, () => FormData, string]>([
      ['no file', () => form({ section: 'wip' }, {}), 'file'],
      ['an unknown field', () => form({ folder: 'x' }, { 'bad-a.txt': 'x' }), ''],
      ['a wrong section', () => form({ section: 'nope' }, { 'bad-a.txt': 'x' }), 'section'],
      ['a subpath that climbs', () => form({ subpath: '../..' }, { 'bad-a.txt': 'x' }), 'subpath'],
      ['a name that climbs', () => form({ filename: '../bad.txt' }, { 'bad-a.txt': 'x' }), 'filename'],
      ...['in/bad-a.txt', '..\\bad-a.txt', 'C:\\bad-a.txt', '/bad-a.txt', 'bad-a.txt/'].map(
        (path): [string, () => FormData, string] => [
          `the path ${path} for a name`,
          () => form({}, { [path]: 'x' }),
          'filename',
        ],
      ),
    ])('refuses a form with %s [files.create.name-alone]', async (_name, make, field) => {
      const answer = await upload(make());

      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: 'VALIDATION_FAILED', details: { issues: [{ path: field }] } });
      expect((await readdir(join(routes.path, 'wip'))).filter((name) => name.startsWith('bad'))).toEqual([]);
    });

    it('keeps nothing of a form that ends too early, or has a field after its file', async () => {
      const head = (name: string) =>
        `--B\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\ncontent`;
      const send = async (body: string) => {
        const answer = await post(body, { 'content-type': 'multipart/form-data; boundary=B' });
        return [answer.status, await codeOf(answer)];
      };
      const late = '\r\n--B\r\ncontent-disposition: form-data; name="section"\r\n\r\noutputs\r\n--B--\r\n';

      expect(await send(head('cut.txt'))).toEqual([400, 'VALIDATION_FAILED']);
      expect(await send(`${head('cut.txt')}\r\n--B`)).toEqual([400, 'VALIDATION_FAILED']);
      expect(await send(head('cut.txt') + late)).toEqual([400, 'VALIDATION_FAILED']);
      expect(await send('')).toEqual([400, 'VALIDATION_FAILED']);
      expect(await send('nonsense')).toEqual([400, 'VALIDATION_FAILED']);
      await expect(stat(join(routes.path, 'wip/cut.txt'))).rejects.toThrow('ENOENT');
      expect((await post('x', { 'content-type': 'multipart/form-data' })).status).toBe(400);
      expect((await post('x', { 'content-type': 'text/plain' })).status).toBe(415);
    });
  });
});
