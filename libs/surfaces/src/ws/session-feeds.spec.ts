import { jest } from '@jest/globals';
import { readSessionLogs } from '@workspace-graph/contracts';
import type { LiveSocket } from './live-socket.js';
import { SessionFeeds } from './session-feeds.js';

interface Read {
  /** The sessions that are read. */
  readonly ids: readonly string[];
  readonly answer: () => void;
}

/** Reads of logs that are answered when the test says so; pages are empty, and answered at once. */
function heldReads() {
  const reads: Read[] = [];
  const call = (operation: { readonly name: string }, input: unknown): Promise<unknown> => {
    if (operation.name !== readSessionLogs.name) return Promise.resolve({ items: [], last_seq: 0 });
    const ids = (input as { sessions: readonly { session_id: string }[] }).sessions.map(({ session_id }) => session_id);
    return new Promise((resolve) => {
      const logs = ids.map((session_id) => ({ session_id, items: [], last_seq: 0, seen_by: [0] }));
      reads.push({ ids, answer: () => resolve({ logs }) });
    });
  };
  return { reads, call: jest.fn(call) };
}

const socket = {
  isOpen: true,
  isFull: false,
  unsentBytes: 0,
  following: new Set<string>(),
  caller: { user_id: 'somebody', scope: 'read' },
  admission: { requestId: 'request' },
  confirm: async () => ({ user_id: 'somebody', scope: 'read' }),
  roomy: async () => undefined,
  sendText: () => undefined,
  together: (send: () => void) => send(),
} as unknown as LiveSocket;

const FOLLOWED = Array.from({ length: 500 }, (_none, index) => `session ${index}`);

async function following(bus: ReturnType<typeof heldReads>) {
  const feeds = new SessionFeeds({ call: bus.call as never }, { warn: () => undefined });
  for (const session_id of FOLLOWED) await feeds.subscribe(socket, { session_id, after: 0 }, () => undefined);
  return feeds;
}

/** The next read, once it has been asked for. */
async function nextRead({ reads }: ReturnType<typeof heldReads>): Promise<Read> {
  for (let turn = 0; turn < 100; turn++) {
    const read = reads.shift();
    if (read) return read;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('Nothing is read');
}

it('an event that happens while all sessions are looked at waits for one read of some of them', async () => {
  const bus = heldReads();
  const feeds = await following(bus);
  feeds.lookAgain();
  const first = await nextRead(bus);
  feeds.grown('session 490', 1);
  first.answer();
  const second = await nextRead(bus);
  expect(first.ids.length).toBeLessThanOrEqual(50);
  expect(second.ids[0]).toBe('session 490');
});

it('all sessions are looked at once each, also while one of them grows all the time', async () => {
  const bus = heldReads();
  const feeds = await following(bus);
  feeds.lookAgain();
  const looked: string[] = [];
  for (let seq = 1; new Set(looked).size < FOLLOWED.length && seq <= 20; seq++) {
    const read = await nextRead(bus);
    looked.push(...read.ids);
    feeds.grown('session 7', seq);
    read.answer();
  }
  const rest = looked.filter((id) => id !== 'session 7');
  expect(rest.toSorted()).toEqual(FOLLOWED.filter((id) => id !== 'session 7').toSorted());
});
