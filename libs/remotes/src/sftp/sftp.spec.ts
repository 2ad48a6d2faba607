import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SmallDisk, type SshServer, startSshd, whyNoSshd } from '@workspace-graph/testing';
import { remoteConformance } from '../conformance/remote.conformance.js';
import { failureOf } from '../conformance/stage.js';
import { loginOf, sftpWorld } from './sftp.fixture.js';
import { SftpRemote } from './sftp.remote.js';

const missing = await whyNoSshd();
const title = missing === null ? 'sftp' : `sftp, skipped because ${missing}`;

(missing === null ? describe : describe.skip)(title, () => {
  let server: SshServer;
  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server.stop());

  remoteConformance(
    'sftp',
    () => sftpWorld(server),
    {
      ...(SmallDisk.available() ? {} : { full: 'only root can make a small disk' }),
    },
    'network',
  );

  it('speaks to no server with another key, and to none with a key that it does not know', async () => {
    const config = { ...loginOf(server), root: '/' };
    expect(await failureOf(SftpRemote.open({ ...config, hostKey: `SHA256:${'A'.repeat(43)}` }))).toBe('forbidden');
    expect(await failureOf(SftpRemote.open({ ...config, hostKey: '' }))).toBe('forbidden');
    expect(await failureOf(SftpRemote.open({ ...config, user: 'nobody-else' }))).toBe('forbidden');
  });

  it('tells a folder that is not there as unavailable', async () => {
    expect(await failureOf(SftpRemote.open({ ...loginOf(server), root: '/none/at/all' }))).toBe('unavailable');
  });

  it('is rid of what a killed process was writing, after a day', async () => {
    const root = mkdtempSync(join(tmpdir(), 'sftp-left-'));
    const drafts = join(root, '.svc-drafts');
    mkdirSync(drafts);
    const old = Date.now() / 1_000 - 25 * 60 * 60;
    for (const name of ['old', 'young']) writeFileSync(join(drafts, name), 'half of it');
    utimesSync(join(drafts, 'old'), old, old);
    const { owner } = server;
    if (owner) for (const path of [root, drafts]) chownSync(path, owner.uid, owner.gid);
    {
      await using _remote = await SftpRemote.open({ ...loginOf(server), root });
      expect(readdirSync(drafts)).toEqual(['young']);
    }
    rmSync(root, { recursive: true });
  });

  it('never takes a content of the same size, written within the same second, for the one before', async () => {
    const world = await sftpWorld(server);
    try {
      const one = async function* (text: string): AsyncGenerator<Uint8Array> {
        yield Buffer.from(text);
      };
      const modifiedAt = '2026-02-03T04:05:06.000Z';
      const first = await world.remote.write('a.txt', one('one'), { expected: null, modifiedAt });
      const second = await world.remote.write('a.txt', one('two'), { expected: first.revision, modifiedAt });
      expect(second.revision).not.toBe(first.revision);
      expect(await failureOf(world.remote.write('a.txt', one('six'), { expected: first.revision }))).toBe('changed');
    } finally {
      await world.close();
    }
  });
});
