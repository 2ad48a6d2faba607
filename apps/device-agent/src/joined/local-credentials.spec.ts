import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workspacePaths } from '../workspace/workspace-paths.js';
import { hashOf, LocalCredentials } from './local-credentials.js';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder, and its credentials opened anew with each call. */
function workspace() {
  const own = mkdtempSync(join(tmpdir(), 'svc-credentials-'));
  folders.push(own);
  const paths = {
    ...workspacePaths(own),
    own,
    token: join(own, 'token'),
    localCredentials: join(own, 'credentials.json'),
  };
  const kept = (): string => readFileSync(paths.token, 'utf8').trim();
  return { paths, kept, open: () => LocalCredentials.open(paths) };
}

it('are those of the last start, and none of them lies anywhere in clear but the one of the workspace', async () => {
  const { open, kept, paths } = workspace();
  const page = await (await open()).makePage('Browser');
  const first = kept();
  const credentials = await open();
  expect(kept()).toBe(first);
  expect([first, page].map((secret) => credentials.find(hashOf(secret))?.kind)).toEqual(['workspace', 'page']);
  expect(credentials.find(hashOf('svc_dev_other'))).toBeNull();
  const text = readFileSync(paths.localCredentials, 'utf8');
  expect([text.includes(first), text.includes(page)]).toEqual([false, false]);
  for (const file of [paths.token, paths.localCredentials]) expect(statSync(file).mode & 0o077).toBe(0);
});

it.each([
  ['its file is lost', (paths: { token: string }) => rmSync(paths.token)],
  ['its file is another one', (paths: { token: string }) => writeFileSync(paths.token, 'svc_dev_forged\n')],
  [
    'what is known of it is damaged',
    (paths: { localCredentials: string }) => writeFileSync(paths.localCredentials, '{'),
  ],
] as const)('the workspace gets another one when %s, and the old one has ended', async (_what, harm) => {
  const { open, kept, paths } = workspace();
  await open();
  const before = kept();
  harm(paths);
  const credentials = await open();
  expect(credentials.find(hashOf(kept()))?.kind).toBe('workspace');
  expect([credentials.find(hashOf(before)), credentials.find(hashOf('svc_dev_forged'))]).toEqual([null, null]);
});

it('a successor works beside the one that it replaces until that is completed, and is the only one', async () => {
  const { open, kept } = workspace();
  const credentials = await open();
  const lost = await credentials.makeSuccessor();
  const { credential, secret } = await credentials.makeSuccessor();
  const works = (text: string): boolean => credentials.find(hashOf(text)) !== null;
  expect([works(kept()), works(lost.secret), works(secret)]).toEqual([true, false, true]);
  const old = credentials.find(hashOf(kept()))?.id ?? '';
  expect(await credentials.complete(credential.id)).toBe(old);
  expect([works(kept()), works(secret)]).toEqual([false, true]);
  expect([await credentials.complete(credential.id), await credentials.complete('another')]).toEqual([null, null]);
});

it('browsers are fifty at most, of which the oldest makes room', async () => {
  const credentials = await workspace().open();
  const secrets: string[] = [];
  for (let count = 0; count < 52; count += 1) secrets.push(await credentials.makePage('Browser'));
  const works = secrets.map((secret) => credentials.find(hashOf(secret)) !== null);
  expect([works.slice(0, 2), works.slice(2).every(Boolean)]).toEqual([[false, false], true]);
  await credentials.end(credentials.find(hashOf(secrets[51] ?? ''))?.id ?? '');
  expect(credentials.find(hashOf(secrets[51] ?? ''))).toBeNull();
});
