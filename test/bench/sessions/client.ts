import { SOCKET_PATH } from '@workspace-graph/contracts';
import { WebSocket } from 'ws';
import { answerCalls } from './helper.js';
import { type McpAddress, McpCaller, type ToolCall } from './mcp-caller.js';

/** A socket that is to be opened, with the sessions that it follows. */
export interface Wanted {
  readonly token: string;
  readonly sessionIds: readonly string[];
}

/** What is said through the control connection, and how often it is to arrive. */
export interface Word {
  readonly text: string;
  /** Stands in each frame that this word leads to. */
  readonly mark: string;
  readonly arrivals: number;
}

export interface ComparedTools {
  readonly sides: readonly [McpAddress, McpAddress];
  readonly calls: readonly ToolCall[];
  readonly forMs: number;
}

const AT_ONCE = 16;
const PATIENCE_MS = 120_000;
let sockets: WebSocket[] = [];
/** Told of each frame, while something is measured. */
let heard: ((data: Buffer) => void) | undefined;

const client = {
  /** Opens sockets; `states` come to each before it counts as open. Each follows its sessions from where they are. */
  open: async ({
    url,
    wanted,
    states,
    after,
  }: {
    url: string;
    wanted: readonly Wanted[];
    states: number;
    after: number;
  }) => {
    const left = [...wanted];
    const openOnes = async (): Promise<void> => {
      for (let one = left.pop(); one; one = left.pop()) {
        const socket = await greeted(url, one.token, states);
        sockets.push(socket);
        await follow(socket, one.sessionIds, after);
        socket.on('message', (data: Buffer) => heard?.(data));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, openOnes));
  },

  /** How long one socket takes until so many frames have come. */
  connect: async ({ url, token, states }: { url: string; token: string; states: number }): Promise<number> => {
    const beganMs = performance.now();
    const socket = await greeted(url, token, states);
    const tookMs = performance.now() - beganMs;
    await closed(socket);
    return tookMs;
  },

  /** Says words one after the other, in equal intervals; answers how long each frame took until it had arrived. */
  deliver: async ({ controlUrl, words, everyMs }: { controlUrl: string; words: readonly Word[]; everyMs: number }) => {
    const control = await opened(new WebSocket(controlUrl, { perMessageDeflate: false }));
    const saidMs = new Map<string, number>();
    const tookMs: number[] = [];
    const expected = words.reduce((sum, { arrivals }) => sum + arrivals, 0);
    const all = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${tookMs.length} of ${expected} frames have come`)),
        PATIENCE_MS,
      );
      control.on('close', (_code, reason) => reject(new Error(`The control connection is closed: ${reason}`)));
      heard = (data) => {
        const arrivedMs = performance.now();
        const mark = markOf(data);
        const beganMs = mark === undefined ? undefined : saidMs.get(mark);
        if (beganMs === undefined) return;
        tookMs.push(arrivedMs - beganMs);
        if (tookMs.length < expected) return;
        clearTimeout(timer);
        resolve();
      };
    });
    for (const { text, mark } of words) {
      const nextMs = performance.now() + everyMs;
      saidMs.set(mark, performance.now());
      control.send(text);
      while (performance.now() < nextMs)
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, nextMs - performance.now())));
    }
    await all;
    heard = undefined;
    control.removeAllListeners('close');
    await closed(control);
    return Float64Array.from(tookMs);
  },

  /** How long a log takes over a socket of its own, from subscribing to its last event. */
  replay: async ({
    url,
    token,
    states,
    sessionId,
    events,
  }: {
    url: string;
    token: string;
    states: number;
    sessionId: string;
    events: number;
  }) => {
    const socket = await greeted(url, token, states);
    let left = events;
    const beganMs = performance.now();
    const all = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        if (data.includes('"type":"event"') && --left === 0) resolve();
      });
    });
    socket.send(JSON.stringify({ id: 1, type: 'subscribe', payload: { session_id: sessionId, after: 0 } }));
    await all;
    const tookMs = performance.now() - beganMs;
    await closed(socket);
    return tookMs;
  },

  /** The first frames that a socket gets, as they are. */
  frames: async ({
    url,
    token,
    sessionId,
    after,
    count,
  }: {
    url: string;
    token: string;
    sessionId: string | null;
    after: number;
    count: number;
  }) => {
    const socket = new WebSocket(address(url), options(token));
    const texts: string[] = [];
    const wanted = sessionId === null ? 'session_state' : 'event';
    const all = new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('message', (data: Buffer) => {
        const text = data.toString();
        if (text.includes(`"type":"${wanted}"`)) texts.push(text);
        if (texts.length === count) resolve();
      });
    });
    await opened(socket);
    if (sessionId !== null)
      socket.send(JSON.stringify({ id: 1, type: 'subscribe', payload: { session_id: sessionId, after } }));
    if (count > 0) await all;
    await closed(socket);
    return texts;
  },

  /** Calls tools at two endpoints in turns, each over an MCP session of its own. @returns how long each side's calls took */
  callTools: async ({ sides, calls, forMs }: ComparedTools): Promise<readonly Float64Array[]> => {
    const [first, second] = [new McpCaller(sides[0]), new McpCaller(sides[1])];
    const callers = [first, second] as const;
    for (const caller of callers) await caller.open();
    const took: readonly [number[], number[]] = [[], []];
    const startedMs = performance.now();
    for (let turn = 0; performance.now() - startedMs < forMs || turn < 2 * calls.length; turn++) {
      const call = calls[turn % calls.length];
      if (!call) throw new Error('There is nothing to call');
      for (const side of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const beganMs = performance.now();
        await callers[side].call(call);
        if (turn >= calls.length) took[side].push(performance.now() - beganMs);
      }
    }
    for (const caller of callers) await caller.close();
    return took.map((each) => Float64Array.from(each));
  },

  close: async (_input: null) => {
    const open = sockets;
    sockets = [];
    await Promise.all(open.map(closed));
  },
};

export type ClientCalls = typeof client;

const address = (url: string): string => `${url.replace('http', 'ws')}${SOCKET_PATH}`;
const options = (token: string) => ({ perMessageDeflate: false, headers: { authorization: `Bearer ${token}` } });

function opened(socket: WebSocket): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Open, and told the states of sessions. */
async function greeted(url: string, token: string, states: number): Promise<WebSocket> {
  const socket = new WebSocket(address(url), options(token));
  let left = states;
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', (code, reason) => reject(new Error(`The socket was closed: ${code} ${reason}`)));
    socket.once('open', () => {
      if (states === 0) resolve();
    });
    socket.on('message', () => {
      if (--left === 0) resolve();
    });
  });
  socket.removeAllListeners('message').removeAllListeners('close');
  return socket;
}

async function follow(socket: WebSocket, sessionIds: readonly string[], after: number): Promise<void> {
  for (const [id, session_id] of sessionIds.entries()) {
    const answered = new Promise<void>((resolve, reject) => {
      socket.on('message', (data: Buffer) => {
        if (data.includes(`{"id":${id},"type":"reply"`)) resolve();
        else if (data.includes('"type":"error"')) reject(new Error(data.toString()));
      });
    });
    socket.send(JSON.stringify({ id, type: 'subscribe', payload: { session_id, after } }));
    await answered;
    socket.removeAllListeners('message');
  }
}

/** What stands between two signs that no other text of the frame has. */
function markOf(data: Buffer): string | undefined {
  const from = data.indexOf('«');
  if (from < 0) return undefined;
  return data.toString('utf8', from + 2, data.indexOf('»', from));
}

async function closed(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.close();
  await ended;
}

answerCalls(client);
