import { randomUUID } from 'node:crypto';
import type { Bus } from '@workspace-graph/bus';
import { type Caller, type InputOf, type OutputOf, readSessionStates, type Scope } from '@workspace-graph/contracts';
import type { WebSocket } from 'ws';
import type { Admission } from '../edge/admission.js';
import { LiveSocket } from './live-socket.js';
import { SessionStates } from './session-states.js';

type State = OutputOf<typeof readSessionStates>['items'][number]['state'];
type Call = (operation: { readonly name: string }, input: unknown, envelope: { readonly caller: Caller }) => unknown;

/** The session service: one session, which everybody sees, and what it was asked. */
class Service {
  readonly sessionId = randomUUID();
  state: State = 'running';
  readonly callers: Caller[] = [];
  underWay = 0;
  most = 0;
  /** Before an answer that was read is sent. */
  onRead: () => Promise<unknown> = () => Promise.resolve();

  readonly bus = { call: (...args) => this.answer(...args) } as { call: Call } as unknown as Pick<Bus, 'call'>;

  private async answer({ name }: { readonly name: string }, input: unknown, { caller }: { readonly caller: Caller }) {
    const item = { session_id: this.sessionId, state: this.state, waiting_since: null, node_id: null };
    if (name === readSessionStates.name) {
      const { viewers } = input as InputOf<typeof readSessionStates>;
      return { items: [{ ...item, seen_by: viewers.map((_viewer, place) => place) }] };
    }
    this.callers.push(caller);
    this.underWay += 1;
    this.most = Math.max(this.most, this.underWay);
    await this.onRead();
    this.underWay -= 1;
    return { items: [item] };
  }
}

let service: Service;
let sockets: Set<LiveSocket>;
let states: SessionStates;
beforeEach(() => {
  service = new Service();
  sockets = new Set();
  states = new SessionStates(service.bus, sockets, { warn: () => undefined });
});

interface Fake {
  readonly socket: LiveSocket;
  /** States of the session, as they came. */
  readonly told: State[];
  readonly closed: number[];
}

function connected(user_id: string, { scope = 'write', confirm }: { scope?: Scope; confirm?: () => never } = {}): Fake {
  const [told, closed]: [State[], number[]] = [[], []];
  const webSocket = {
    OPEN: 1,
    readyState: 1,
    send: (text: string) => void told.push((JSON.parse(text) as { payload: { state: State } }).payload.state),
    close: (code: number) => void closed.push(code),
  } as unknown as WebSocket;
  const caller: Caller = { user_id, scope, credential_id: null, via: 'rest' };
  const admission = { caller, requestId: 'r', confirm: confirm ?? (() => Promise.resolve(caller)) };
  const connection = { cork: () => undefined, uncork: () => undefined };
  const socket = new LiveSocket(webSocket, admission as unknown as Admission, true, connection);
  sockets.add(socket);
  return { socket, told, closed };
}

async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe('sockets that are told everything open', () => {
  it('ask once for each viewer, and for a few users at a time', async () => {
    service.onRead = () => new Promise((resolve) => setImmediate(resolve));
    const users = Array.from({ length: 50 }, () => randomUUID());
    const all = users.flatMap((id) => Array.from({ length: 20 }, () => connected(id)));
    const managing = users.slice(0, 10).map((id) => connected(id, { scope: 'manage' }));
    states.greet(sockets);
    await eventually(() => [...all, ...managing].every(({ told }) => told.length > 0));
    expect([...all, ...managing].every(({ told }) => told.length === 1)).toBe(true);
    const asked = service.callers.map(({ user_id, scope }) => `${user_id} ${scope}`);
    const viewers = [...users.map((id) => `${id} write`), ...users.slice(0, 10).map((id) => `${id} manage`)];
    expect(asked.toSorted()).toEqual(viewers.toSorted());
    // Of four users, each with two viewers at most.
    expect(service.most).toBeLessThanOrEqual(8);
  });

  it('are not told what was read before they came', async () => {
    const user = randomUUID();
    const first = connected(user);
    let later: Fake | undefined;
    service.onRead = () => {
      service.state = 'suspended';
      later ??= connected(user);
      states.greet([later.socket]);
      service.onRead = () => Promise.resolve();
      return Promise.resolve();
    };
    states.greet([first.socket]);
    await eventually(() => later?.told.length === 1);
    expect([first.told, later?.told]).toEqual([['running'], ['suspended']]);
  });

  it('are not told what is not so any more', async () => {
    const { socket, told } = connected(randomUUID());
    service.onRead = async () => {
      service.state = 'closed';
      states.changed(service.sessionId);
      await eventually(() => told.length > 0);
    };
    states.greet([socket]);
    await eventually(() => service.callers.length === 1 && service.underWay === 0);
    await states.stop();
    expect(told).toEqual(['closed']);
  });

  it('are closed where they cannot be, and no others', async () => {
    const user = randomUUID();
    const refused = connected(user, {
      confirm: () => {
        throw new Error('nobody can say');
      },
    });
    const other = connected(user);
    const gone = connected(user);
    states.greet(sockets);
    sockets.delete(gone.socket);
    await eventually(() => other.told.length + refused.closed.length === 2);
    expect([refused, other, gone].map(({ told, closed }) => [told.length, closed])).toEqual([
      [0, [1013]],
      [1, []],
      [0, []],
    ]);
  });
});
