import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { getSyncHealth, getSyncStatus } from '@workspace-graph/contracts';
import { filesKnown } from '../scan/scanner.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { LibraryWatch } from './system/library-watch.js';
import { ThreadWatch } from './system/thread-watch.js';
import { eventually, watchedMirror } from './watcher.fixture.js';

const System = process.platform === 'linux' ? ThreadWatch : LibraryWatch;
const NOT_WATCHED = expect.stringMatching(
  /^The system does not report changes at the moment, .* every 30 seconds instead\.$/,
);
const AT_LIMIT = expect.stringContaining('raise fs.inotify.max_user_watches');

let device: DeviceFixture;
beforeAll(async () => {
  device = await startDevice({ settings: { watch: true, debounceMs: 100 } });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => device.close());

const statusOf = (node_id: string) => device.call(getSyncStatus, { node_id });
const failuresOf = async (nodeId: string) =>
  (await device.call(getSyncHealth, {})).failures.filter(({ node }) => node.id === nodeId);

describe('a folder that the system refuses to watch', () => {
  it.each([
    ['EINVAL: invalid argument, watch', NOT_WATCHED],
    ['ENOSPC: System limit for number of file watchers reached', AT_LIMIT],
  ])(
    'is reported as such and scanned, and is watched again once the system does, by itself [watcher.watch-recovers]: %s',
    async (text, message) => {
      const refused = jest.spyOn(System.prototype, 'open').mockRejectedValue(new Error(text));
      const { nodeId, path } = await watchedMirror(device, text);
      await eventually(async () =>
        expect(await statusOf(nodeId)).toMatchObject({ watching: false, watcher_errors: [{ path: '', message }] }),
      );
      expect(await failuresOf(nodeId)).toMatchObject([{ path: '', message }]);
      await writeFile(join(path, 'wip/a.md'), 'a');
      await eventually(() => expect(Object.keys(filesKnown(device, nodeId).registry)).toEqual(['wip/a.md']));
      expect(await statusOf(nodeId)).toMatchObject({ watching: false });

      refused.mockRestore();
      await eventually(async () =>
        expect(await statusOf(nodeId)).toMatchObject({ watching: true, watcher_errors: [] }),
      );
      expect(await failuresOf(nodeId)).toEqual([]);
      await writeFile(join(path, 'wip/b.md'), 'b');
      await eventually(() => expect(Object.keys(filesKnown(device, nodeId).registry)).toContain('wip/b.md'));
    },
  );
});
