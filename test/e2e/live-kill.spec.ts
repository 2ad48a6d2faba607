import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createNode,
  getSession,
  listSessionEvents,
  listSessions,
  type Session,
  type SessionEvent,
} from '@workspace-graph/contracts';
import { RestClient } from '../central/rest-client.js';
import { Follower } from '../live/follower.js';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const ROUNDS = 3;
/** Texts of the agent before each kill, and texts that nobody waits for when it comes. */
const SAID = 20;

const folder = new WorkspaceFolder({ onDisk: true, isStarted: true });
let workspace: RunningWorkspace | undefined;
let owner: RestClient;
afterAll(() => folder[Symbol.asyncDispose]());

async function start(): Promise<void> {
  workspace = await folder.start();
  owner = new RestClient(workspace.url, folder.token);
}

/** An agent that works on a node, or goes on with a session. */
async function connect(query: string): Promise<Client> {
  const client = new Client({ name: 'spec-agent', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${owner.token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${owner.url}/mcp?${query}`), { requestInit }));
  return client;
}

/** Answers the seq under which the text is kept. */
async function say(agent: Client, text: string): Promise<number> {
  const { isError, structuredContent } = await agent.callTool({ name: 'svc_session_log', arguments: { text } });
  if (isError) throw new Error(JSON.stringify(structuredContent));
  return (structuredContent as { seq: number }).seq;
}

async function onlySession(): Promise<Session> {
  const { items } = await owner.call(listSessions, { own: true });
  expect(items).toHaveLength(1);
  return items[0] as Session;
}

async function wholeLog(session_id: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.seq ?? 0;
    const { items } = await owner.call(listSessionEvents, { session_id, after });
    if (items.length === 0) return events;
    events.push(...(items as SessionEvent[]));
  }
}

const texts = (log: readonly SessionEvent[]): string[] =>
  log.flatMap((event) => (event.kind === 'assistant_message' ? [event.payload.text] : []));

it(
  'a workspace that is killed finds its sessions at its next start, suspended: it restarted; the log has all that was acknowledged, and who follows it sees each event once [sessions.suspend.on-restart] [sessions.never-dropped] [sessions.record.durable-id] [sessions.log.only-truth] [ws.reconnect] [ws.subscribe.no-gap-no-duplicate]',
  async () => {
    await start();
    const { id: node_id } = await owner.call(createNode, { type: 'organization', name: 'Home' });
    let agent = await connect(`home_node_id=${node_id}`);
    const acknowledged = ['hello'];
    await say(agent, 'hello');
    const { id } = await onlySession();
    await using follower = new Follower(() => (workspace ? [workspace.url] : []), owner.token, id);

    for (let round = 0; round < ROUNDS; round++) {
      for (let nth = 0; nth < SAID; nth++) {
        const text = `round ${round}, text ${nth}`;
        await say(agent, text);
        acknowledged.push(text);
      }
      const unheard = Array.from({ length: SAID }, (_, nth) => say(agent, `round ${round}, unheard ${nth}`));
      const heard = Promise.allSettled(unheard);
      await Promise.race(unheard);
      await workspace?.kill();
      workspace = undefined;
      for (const [nth, { status }] of (await heard).entries())
        if (status === 'fulfilled') acknowledged.push(`round ${round}, unheard ${nth}`);
      await agent.close();

      await start();
      expect(await owner.call(getSession, { session_id: id })).toMatchObject({
        state: 'suspended',
        is_live: false,
        suspended: { reason: 'server_restart', by_server: true },
        handoff: { written_by: 'server' },
      });
      agent = await connect(`session_id=${id}`);
      await say(agent, `back after round ${round}`);
      acknowledged.push(`back after round ${round}`);
      expect(await onlySession()).toMatchObject({ id, state: 'running', is_live: true });
    }

    const log = await wholeLog(id);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    const kept = texts(log);
    expect(acknowledged.filter((text) => !kept.includes(text))).toEqual([]);
    expect(new Set(kept).size).toBe(kept.length);
    await follower.until(log.length);
    expect(follower.seqs).toEqual(log.map(({ seq }) => seq));
    await agent.close();
  },
  START_MS * (ROUNDS + 1),
);
