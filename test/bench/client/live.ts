import { once } from 'node:events';
import { Client } from '@workspace-graph/client';
import { getNode, getSession, renameSession, SOCKET_PATH, updateNode } from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { quantile } from '../measurements/figures.js';
import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import type { ClientStage } from './stage.js';

/** What people take for at once. */
const MOST_P95_MS = 1_000;

/** Runs in a page: tells when each element of a kind shows a text, in milliseconds of the clock, once it is painted. */
const WATCH = `
  globalThis.shown = {};
  globalThis.watch = (name, selector, text) => {
    shown[name] = new Promise((done) => {
      const painted = () => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.timeOrigin + performance.now())));
      const look = () => {
        if (![...document.querySelectorAll(selector)].some((one) => one.textContent.includes(text))) return;
        observer.disconnect();
        painted();
      };
      const observer = new MutationObserver(look);
      observer.observe(document.body, { subtree: true, childList: true, characterData: true });
      look();
    });
  };`;

/** Where a change is to be seen, by the names of the figures. */
const NODE_PLACES = { 'the detail': 'aside.pane h2', 'the list of the graph': '.centre [role=option]' };
const SESSION_PLACES = { 'the list of sessions': '.slist li li' };

interface Changed {
  /** Until the call was answered, and until its frame was at a bare client. */
  readonly answeredMs: number;
  readonly heardMs: number;
  /** Until it was painted, by the place. */
  readonly shownMs: Readonly<Record<string, number>>;
}

interface Way {
  readonly page: Page;
  readonly socket: WebSocket;
  readonly places: Readonly<Record<string, string>>;
  readonly frame: 'graph_changed' | 'session_state';
  readonly make: (name: string) => Promise<unknown>;
}

/** From a change that another client makes over HTTP until a page shows it that nobody touches. */
export async function measureLive(stage: ClientStage): Promise<Figure[]> {
  const client = new Client({ url: stage.url, token: stage.token });
  const administrator = new Client({ url: stage.url, token: stage.administratorToken });
  const sessionId = await stage.longLog();
  const [node, session] = [
    await client.call(getNode, { node_id: stage.nodeId }),
    await client.call(getSession, { session_id: sessionId }),
  ];
  const socket = await listen(stage);
  try {
    const ofNode = await changeAll(stage, `/graph?node=${node.id}`, {
      socket,
      places: NODE_PLACES,
      frame: 'graph_changed',
      make: (mark) => administrator.call(updateNode, { node_id: node.id, name: `${node.name} ${mark}` }),
    });
    const ofSession = await changeAll(stage, '/workspace', {
      socket,
      places: SESSION_PLACES,
      frame: 'session_state',
      make: (mark) => client.call(renameSession, { session_id: sessionId, name: `${session.name} ${mark}` }),
    });
    const trips = await pingAll(socket, stage.options.changes);
    return [
      ...figuresOf('name of a node', NODE_PLACES, ofNode),
      ...figuresOf('name of a session', SESSION_PLACES, ofSession),
      { what: 'bare round trip of a frame, p50', value: sortedAt(trips, 0.5), unit: 'ms', verdict: null },
    ];
  } finally {
    socket.terminate();
  }
}

async function changeAll(stage: ClientStage, path: string, way: Omit<Way, 'page'>): Promise<readonly Changed[]> {
  const page = await openWatched(stage, path, Object.values(way.places));
  const changes: Changed[] = [];
  // The first one finds code that never ran, in the page and in the workspace.
  for (let at = 0; at <= stage.options.changes; at++) changes.push(await changeOnce({ ...way, page }, `№ ${at}.`));
  await page.context().close();
  return changes.slice(1);
}

/** A page with its list of nodes, whose live channel is open and quiet. */
async function openWatched({ open, url }: ClientStage, path: string, selectors: readonly string[]): Promise<Page> {
  const page = await open();
  await page.addInitScript("localStorage['svc:graph.mode'] = '\"list\"';");
  await page.addInitScript(WATCH);
  const greeted = page.waitForEvent('websocket').then((opened) => opened.waitForEvent('framereceived'));
  await page.goto(`${url}/app${path}`);
  for (const selector of selectors) await page.locator(selector).first().waitFor();
  await greeted;
  await page.waitForLoadState('networkidle');
  return page;
}

async function changeOnce({ page, socket, places, frame, make }: Way, mark: string): Promise<Changed> {
  for (const [name, selector] of Object.entries(places))
    await page.evaluate(`watch(${JSON.stringify(name)}, ${JSON.stringify(selector)}, ${JSON.stringify(mark)})`);
  const heard = untilFrame(socket, frame);
  const startMs = now();
  const answered = make(mark).then(now);
  const [answeredMs, heardMs] = await Promise.all([answered, heard]);
  const shownMs: Record<string, number> = {};
  for (const name of Object.keys(places))
    shownMs[name] = (await page.evaluate<number>(`shown[${JSON.stringify(name)}]`)) - startMs;
  return { answeredMs: answeredMs - startMs, heardMs: heardMs - startMs, shownMs };
}

/** Milliseconds of the clock that all processes of a machine share. */
const now = (): number => performance.timeOrigin + performance.now();

function untilFrame(socket: WebSocket, type: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const onMessage = (data: Buffer): void => {
      if (!data.includes(`"type":"${type}"`)) return;
      socket.off('message', onMessage).off('close', onClose);
      resolve(now());
    };
    const onClose = (): void => reject(new Error('The live channel was closed'));
    socket.on('message', onMessage).once('close', onClose);
  });
}

/** A client that is told what pages are told, and does nothing with it. */
async function listen({ url, token }: ClientStage): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace('http', 'ws')}${SOCKET_PATH}`, { headers });
  await once(socket, 'open');
  const replied = untilFrame(socket, 'reply');
  socket.send(JSON.stringify({ id: 'watch', type: 'watch', payload: { graph: true, files: false } }));
  await replied;
  return socket;
}

async function pingAll(socket: WebSocket, count: number): Promise<readonly number[]> {
  const trips: number[] = [];
  for (let at = 0; at < count; at++) {
    const [startMs, answered] = [now(), once(socket, 'pong')];
    socket.ping();
    await answered;
    trips.push(now() - startMs);
  }
  return trips;
}

function figuresOf(what: string, places: Way['places'], changes: readonly Changed[]): Figure[] {
  const answered = changes.map(({ answeredMs }) => answeredMs);
  const heard = changes.map(({ heardMs }) => heardMs);
  const beside = { name: 'its frame at a bare client', value: sortedAt(heard, 0.5) };
  return [
    {
      what: `${what}, until the call is answered, p50`,
      value: sortedAt(answered, 0.5),
      unit: 'ms',
      beside,
      verdict: null,
    },
    ...Object.keys(places).flatMap((place): Figure[] => {
      const times = changes.map(({ shownMs }) => shownMs[place] ?? Number.NaN);
      const at = (share: number): number => sortedAt(times, share);
      return [
        {
          what: `${what}, shown in ${place}, p50`,
          value: at(0.5),
          unit: 'ms',
          beside,
          ratio: at(0.5) / beside.value,
          verdict: null,
        },
        {
          what: `${what}, shown in ${place}, p95`,
          value: at(0.95),
          unit: 'ms',
          beside: { name: beside.name, value: sortedAt(heard, 0.95) },
          verdict: below(MOST_P95_MS, at(0.95)),
        },
        {
          what: `${what}, shown in ${place}, the slowest`,
          value: at(1),
          unit: 'ms',
          beside: { name: beside.name, value: sortedAt(heard, 1) },
          verdict: null,
        },
      ];
    }),
  ];
}

const sortedAt = (values: readonly number[], share: number): number =>
  quantile(Float64Array.from(values).sort(), share);
