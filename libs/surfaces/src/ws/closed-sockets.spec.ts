import { jest } from '@jest/globals';
import { ChangeWatch } from './change-watch.js';
import type { LiveSocket } from './live-socket.js';
import { SessionFeeds } from './session-feeds.js';

/** One that closed while its frame waited for its turn; it has been forgotten by then. */
const closed = { isOpen: false, following: new Set() } as unknown as LiveSocket;
const call = jest.fn<() => Promise<never>>();
const parts = [{ call }, { warn: () => undefined }] as const;

it('a socket that has closed is told of no changes', () => {
  const changes = new ChangeWatch(...parts);
  changes.watch(closed, { graph: true, files: true, sync: true });
  expect(changes.size).toBe(0);
});

it('a socket that has closed follows no session, and nothing is read for it', async () => {
  const feeds = new SessionFeeds(...parts);
  const begun = jest.fn();
  await feeds.subscribe(closed, { session_id: '0190a5f0-0000-7000-8000-000000000001', after: 0 }, begun);
  expect([feeds.size, closed.following.size, begun.mock.calls, call.mock.calls]).toEqual([0, 0, [], []]);
});
