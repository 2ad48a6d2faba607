import { type ObjectServer, startRadosgw, whyNoRadosgw } from '@workspace-graph/testing';
import { remoteConformance } from '../conformance/remote.conformance.js';
import { failureOf } from '../conformance/stage.js';
import { gradeRemote } from '../grading/grade-remote.js';
import { configOf, objstoreWorld } from './objstore.fixture.js';
import { ObjstoreRemote } from './objstore.remote.js';

const missing = await whyNoRadosgw();
const title = missing === null ? 'objstore' : `objstore, skipped because ${missing}`;

(missing === null ? describe : describe.skip)(title, () => {
  let server: ObjectServer;
  beforeAll(async () => {
    server = await startRadosgw();
  });
  afterAll(() => server.stop());

  remoteConformance(
    'objstore',
    () => objstoreWorld(server),
    { full: 'the storage counts what it holds too seldom' },
    'network',
  );

  it('is graded by what the server does [remotes.setup.probed]', async () => {
    const world = await objstoreWorld(server);
    try {
      const grade = await gradeRemote(world.remote);
      expect(grade).toMatchObject({
        conditions: 'checked',
        listing: 'immediate',
        case_sensitive: true,
        hashes: ['md5'],
      });
      expect(await world.leftOvers()).toEqual([]);
    } finally {
      await world.close();
    }
  });

  it('is not opened with a wrong secret, and not where there is no bucket', async () => {
    const config = configOf(server, 'none');
    expect(await failureOf(ObjstoreRemote.open({ ...config, secretAccessKey: 'wrong' }))).toBe('forbidden');
    expect(await failureOf(ObjstoreRemote.open({ ...config, accessKeyId: 'nobody' }))).toBe('forbidden');
    expect(await failureOf(ObjstoreRemote.open(config))).toBe('unavailable');
  });
});
