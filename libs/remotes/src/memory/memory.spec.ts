import { remoteConformance } from '../conformance/remote.conformance.js';
import { failureOf } from '../conformance/stage.js';
import { memoryWorld } from './memory.fixture.js';
import { MemoryRemote } from './memory.remote.js';

remoteConformance('memory', memoryWorld);

describe('the remote in memory', () => {
  it('passes on for how long it asks to be left alone', async () => {
    const remote = new MemoryRemote();
    remote.failWith('unavailable', 7);
    await expect(remote.stat('a')).rejects.toMatchObject({ facts: { path: 'a', retryAfterSeconds: 7 } });
    expect(await failureOf(remote.stat('a'))).toBe('unavailable');
  });
});
