import { chownSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DavServer,
  SmallDisk,
  startApache,
  startRcloneDav,
  whyNoApache,
  whyNoRclone,
} from '@workspace-graph/testing';
import { remoteConformance } from '../conformance/remote.conformance.js';
import { bytesOf, failureOf } from '../conformance/stage.js';
import type { Exemptions } from '../conformance/world.js';
import { gradeRemote } from '../grading/grade-remote.js';
import { configOf, webdavWorld } from './webdav.fixture.js';
import { WebdavRemote } from './webdav.remote.js';

const NO_DISK: Exemptions = SmallDisk.available() ? {} : { full: 'only root can make a small disk' };
const SAYS_NOTHING = 'the server answers as for a fault of its own';
const SERVERS = [
  { name: 'Apache', missing: await whyNoApache(), start: startApache, exempt: NO_DISK, limits: {} },
  {
    name: 'a server that takes no notice of conditions',
    missing: await whyNoRclone(),
    start: startRcloneDav,
    exempt: { forbidden: SAYS_NOTHING, full: SAYS_NOTHING },
    // It lists the folder anew for each file in it, and may go on to write what was broken off and removed.
    limits: { atMost: 300, ignored: /^\.svc-drafts\// },
  },
];

describe.each(SERVERS)('webdav of $name', ({ missing, start, exempt, limits }) => {
  if (missing !== null) {
    // biome-ignore lint/suspicious/noSkippedTests: shown with its reason
    it.skip(`skipped because ${missing}`, () => undefined);
    return;
  }
  let server: DavServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.stop());

  remoteConformance('webdav', () => webdavWorld(server, limits), exempt, 'network');

  it('is graded as one whose callers let one writer at a time to a path [remotes.setup.probed]', async () => {
    const world = await webdavWorld(server, limits);
    try {
      const grade = await gradeRemote(world.remote);
      expect(grade).toMatchObject({
        conditions: 'checked',
        listing: 'immediate',
        case_sensitive: true,
        server_side_copy: true,
      });
      expect(await world.leftOvers()).toEqual([]);
    } finally {
      await world.close();
    }
  });

  it('is not opened with a wrong password, and not where there is no folder', async () => {
    const config = configOf(server, 'none/at/all');
    expect(await failureOf(WebdavRemote.open({ ...config, password: 'wrong' }))).toBe('forbidden');
    expect(await failureOf(WebdavRemote.open(config))).toBe('unavailable');
    expect(await failureOf(WebdavRemote.open({ ...config, url: 'http://127.0.0.1:1/files' }))).toBe('unavailable');
  });

  it('is rid of what a killed process was writing, after a day', async () => {
    const root = join(server.folder, 'left');
    const drafts = join(root, '.svc-drafts');
    mkdirSync(drafts, { recursive: true });
    const old = Date.now() / 1_000 - 25 * 60 * 60;
    for (const name of ['old', 'young']) writeFileSync(join(drafts, name), 'half of it');
    utimesSync(join(drafts, 'old'), old, old);
    const { owner } = server;
    if (owner) for (const path of [root, drafts]) chownSync(path, owner.uid, owner.gid);
    await using _remote = await WebdavRemote.open(configOf(server, 'left'));
    expect(readdirSync(drafts)).toEqual(['young']);
  });

  it('keeps a file that comes into a folder which is removed', async () => {
    const world = await webdavWorld(server, limits);
    try {
      await world.remote.makeFolder('folder');
      const ends = await Promise.allSettled([
        world.remote.removeFolder('folder'),
        world.remote.write('folder/a.txt', bytesOf('kept'), { expected: null }),
      ]);
      const made = await world.remote.stat('folder/a.txt');
      expect(made !== null).toBe(ends[1].status === 'fulfilled');
      expect(await world.leftOvers()).toEqual([]);
    } finally {
      await world.close();
    }
  });
});
