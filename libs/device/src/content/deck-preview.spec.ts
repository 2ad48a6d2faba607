import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ZipEntry, zipOf } from '@workspace-graph/testing';
import { DECK_LIMITS } from './deck-preview.js';
import { type FileRoutes, startFileRoutes } from './file-routes.fixture.js';

const HTML = '<!doctype html><title>Plán</title><script>alert(1)</script>';
const preview: ZipEntry = { name: 'preview.html', content: HTML };

describe('a presentation bundle over HTTP', () => {
  let routes: FileRoutes;

  beforeAll(async () => {
    routes = await startFileRoutes();
    await mkdir(join(routes.path, 'outputs'), { recursive: true });
  });
  afterAll(() => routes[Symbol.asyncDispose]());

  const get = (name: string, headers: Record<string, string> = {}, more = '') =>
    routes.edge.fetch(`/nodes/${routes.nodeId}/file?path=outputs/${name}${more}`, {
      token: routes.edge.tokens.read,
      headers,
    });
  const save = (name: string, bytes: Uint8Array) => writeFile(join(routes.path, 'outputs', name), bytes);

  it('is answered as its preview, a page that can run and load nothing [files.deck.preview]', async () => {
    await save('talk.deck', zipOf([{ name: 'deck.json', content: '{}' }, preview]));
    const answer = await get('talk.deck');

    expect([answer.status, await answer.text()]).toEqual([200, HTML]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': 'inline',
      'x-content-type-options': 'nosniff',
      'content-length': String(Buffer.byteLength(HTML)),
      etag: `"${createHash('sha256').update(HTML).digest('hex')}"`,
    });
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toEqual(expect.arrayContaining(['sandbox', "default-src 'none'", "form-action 'none'"]));
    expect(policy).not.toContain('script');
    const part = await get('talk.deck', { range: 'bytes=0-8' });
    expect([part.status, await part.text()]).toEqual([206, '<!doctype']);
    const unchanged = await get('talk.deck', { 'if-none-match': answer.headers.get('etag') ?? '' });
    expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
  });

  it('is a bundle by its name in capitals too, and by nothing else', async () => {
    await save('LOUD.DECK', zipOf([preview]));
    await save('talk.zip', zipOf([preview]));

    expect(await (await get('LOUD.DECK')).text()).toBe(HTML);
    expect((await get('talk.zip')).headers.get('content-type')).toBe('application/zip');
  });

  it('gives its bytes on request, readable archive or not', async () => {
    const bytes = zipOf([preview]);
    await save('raw.deck', bytes);
    await save('broken-raw.deck', Buffer.from('no archive'));
    const answer = await get('raw.deck', {}, '&raw=true');

    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    expect(answer.headers.get('content-type')).not.toContain('html');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; /);
    expect(await (await get('broken-raw.deck', {}, '&raw=true')).text()).toBe('no archive');
  });

  it.each([
    ['cs', 'cs', 'Náhled není k dispozici'],
    ['cs-CZ,cs;q=0.9,en;q=0.8', 'cs', 'Náhled není k dispozici'],
    ['en;q=0.5,cs', 'cs', 'Náhled není k dispozici'],
    ['en-GB,en;q=0.9,cs;q=0.8', 'en', 'No preview'],
    ['de', 'en', 'No preview'],
    ['cs;q=0', 'en', 'No preview'],
    [';;,q=,=', 'en', 'No preview'],
  ])(
    'says to Accept-Language %s that an old bundle has no preview [files.deck.old-bundle]',
    async (header, language, title) => {
      await save('old.deck', zipOf([{ name: 'deck.json', content: '{}' }]));
      const answer = await get('old.deck', { 'accept-language': header });
      const page = await answer.text();

      expect(answer.status).toBe(200);
      expect(page).toContain(`<html lang="${language}">`);
      expect(page).toContain(`<h1>${title}</h1>`);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'x-deck-preview': 'missing',
        'content-length': String(Buffer.byteLength(page)),
        'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'/),
        vary: expect.stringContaining('Accept-Language'),
      });
      expect(answer.headers.has('etag')).toBe(false);
    },
  );

  it.each<[string, () => Buffer, string]>([
    ['no archive', () => Buffer.from('plain text'), 'not a readable zip'],
    ['empty', () => Buffer.alloc(0), 'not a readable zip'],
    ['cut off', () => zipOf([preview]).subarray(0, -30), 'not a readable zip'],
    ['cut off at its beginning', () => zipOf([preview]).subarray(40), 'not a readable zip'],
    ['a bomb', () => zipOf([{ ...preview, content: Buffer.alloc(8 * 1_048_576) }]), `${DECK_LIMITS.ratio} times`],
    [
      'a bomb that tells another size',
      () => zipOf([{ ...preview, content: Buffer.alloc(8 * 1_048_576), toldBytes: 10 }]),
      'not a readable zip',
    ],
    [
      'of more entries than the limit',
      () =>
        zipOf(Array.from({ length: DECK_LIMITS.entries + 1 }, (_, at) => ({ name: `${at}`, content: '', method: 0 }))),
      `${DECK_LIMITS.entries} entries`,
    ],
    [
      'with a preview beyond the limit',
      () => zipOf([{ ...preview, method: 0, content: Buffer.alloc(DECK_LIMITS.previewBytes + 1) }]),
      `${DECK_LIMITS.previewBytes} bytes`,
    ],
    [
      'with an entry that climbs',
      () => zipOf([{ name: '../preview.html', content: 'x' }, preview]),
      'not a readable zip',
    ],
    ['with an absolute entry', () => zipOf([{ name: '/etc/passwd', content: 'x' }, preview]), 'not a readable zip'],
    ['encrypted', () => zipOf([{ ...preview, encrypted: true }]), 'encrypted'],
    ['packed in an unknown way', () => zipOf([{ ...preview, method: 99 }]), 'not a readable zip'],
  ])('is refused when it is %s, and nothing stays open', async (_name, make, why) => {
    await save('bad.deck', make());
    const answer = await get('bad.deck');

    expect(answer.status).toBe(415);
    expect(await answer.json()).toMatchObject({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: expect.stringMatching(new RegExp(`outputs/bad\\.deck .*${why}.*raw=true`)),
      details: { path: 'outputs/bad.deck' },
    });
    const head = await routes.raw(`/nodes/${routes.nodeId}/file?path=outputs/bad.deck`, 'HEAD');
    expect([head.status, head.body]).toEqual([415, '']);
  });

  it('shows the first of two previews, and takes a preview in a folder for none', async () => {
    await save('twice.deck', zipOf([preview, { ...preview, content: 'second' }]));
    await save('nested.deck', zipOf([{ name: 'a/preview.html', content: 'nested' }]));

    expect(await (await get('twice.deck')).text()).toBe(HTML);
    expect((await get('nested.deck')).headers.get('x-deck-preview')).toBe('missing');
  });
});
