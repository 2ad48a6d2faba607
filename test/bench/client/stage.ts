import { Client } from '@workspace-graph/client';
import { listSessions } from '@workspace-graph/contracts';
import { appendLongLog, generateLargeGraph } from '@workspace-graph/testing';
import { startBrowser } from '@workspace-graph/testing/browser';
import pg from 'pg';
import type { BrowserContext, Page } from 'playwright-core';
import { startLocalPlace } from '../places/local-place.js';
import { SCALES } from '../scales.js';
import { McpCaller } from '../sessions/mcp-caller.js';
import { itemAt, readWorld } from '../world.js';
import type { ClientBenchOptions } from './options.js';

/** A workspace with a large graph, and a browser. */
export interface ClientStage extends AsyncDisposable {
  readonly options: ClientBenchOptions;
  readonly url: string;
  /** The credential of the person whose pages these are, and that of somebody else who manages the workspace. */
  readonly token: string;
  readonly administratorToken: string;
  /** Names of nodes that the person sees, to be searched for. */
  readonly names: readonly string[];
  /** A page of a new browser profile with an empty cache, signed in. */
  open(): Promise<Page>;
  /** A node that the person sees. */
  readonly nodeId: string;
  /** The id of a session with a long log, whose agent is connected. */
  longLog(): Promise<string>;
}

/** Runs in each page before anything of it: nothing is filtered out, and it is noted when the page was busy without a pause. */
const PREPARE = `
  localStorage['svc:graph.filters'] ??= '{"type":[],"status":[],"relation":[],"organization":[]}';
  globalThis.tasks = [];
  new PerformanceObserver((entries) => {
    for (const { startTime, duration } of entries.getEntries()) tasks.push({ startMs: startTime, tookMs: duration });
  }).observe({ type: 'longtask', buffered: true });`;
const PATIENCE_MS = 180_000;

export async function openStage(options: ClientBenchOptions, root: string): Promise<ClientStage> {
  const stack = new AsyncDisposableStack();
  try {
    const place = stack.use(await startLocalPlace(root));
    const { nodes } = options;
    const sizes = { nodes, edges: nodes * 3, events: nodes * 2, users: 20, restrictedShare: 0 };
    await generateLargeGraph(place.databaseUrl, sizes);
    await forgetPlaces(place.databaseUrl);
    const world = await readWorld(place.databaseUrl, SCALES.default);
    const { token = '' } = await place.admit({ ...world, userId: itemAt(world.graph.userIds, 0) });
    const browser = await startBrowser();
    stack.defer(() => browser.close());
    const url = place.url ?? '';
    const state = await signIn(await browser.newContext(), url, token);
    return {
      options,
      url,
      token,
      administratorToken: place.administratorToken ?? '',
      names: world.searches,
      nodeId: itemAt(world.nodeIds, 0),
      open: async () => {
        const context = await browser.newContext({
          storageState: state,
          locale: 'en-US',
          viewport: { width: 1440, height: 900 },
          reducedMotion: 'reduce',
        });
        context.setDefaultTimeout(PATIENCE_MS);
        await context.addInitScript(PREPARE);
        return context.newPage();
      },
      longLog: async () => {
        const agent = new McpCaller({ url, token, homeNodeId: itemAt(world.nodeIds, 0) });
        await agent.open();
        stack.defer(() => agent.close());
        // Answered once its session is there.
        await agent.call({ name: 'svc_session_init', input: {} });
        const id = await newestSession(url, token);
        await appendLongLog(place.databaseUrl, id, options.events);
        return id;
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function newestSession(url: string, token: string): Promise<string> {
  const { items } = await new Client({ url, token }).call(listSessions, { own: true, limit: 1 });
  const [session] = items;
  if (!session) throw new Error('The agent has no session');
  return session.id;
}

/** As before anybody has looked at the graph; the workspace has not read it yet, so it does not know better. */
async function forgetPlaces(databaseUrl: string): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query('DELETE FROM graph.position');
  } finally {
    await database.end();
  }
}

/** What a browser keeps that is signed in. */
async function signIn(context: BrowserContext, url: string, token: string) {
  const page = await context.newPage();
  await page.goto(`${url}/app/`);
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}
