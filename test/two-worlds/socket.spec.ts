import { type ClientFrameType, logEvent, logSession, updateNode } from '@workspace-graph/contracts';
import { LiveClient, type ReceivedFrame } from '../live/live-client.js';
import { baselineSql, FILLER, NODES } from './baseline.js';
import { McpSpeaker } from './mcp-speaker.js';
import { expectSame, inBothWorlds, type RunningWorld, type Speaker } from './running-world.js';
import { joinSecret, noSecrets, plantSecrets, type Secrets, stirSecrets } from './secrets.js';
import { hiddenSql, neverWere, SESSIONS, sessionsSql, stirSql } from './sessions-baseline.js';
import { Transcript } from './transcript.js';

/** Rita who reads, Wil who writes, and the person whose device it is. */
const ROLES: readonly Speaker[] = ['reader', 'writer', 'person'];
/** What a client asks about a session, in turn: what it follows, and what changes something or tries to. */
const FRAMES: readonly (readonly [ClientFrameType, Readonly<Record<string, unknown>>])[] = [
  ['subscribe', { after: 0 }],
  ['subscribe', { after: 1 }],
  ['subscribe', { after: 1_000 }],
  ['message', { text: 'Zebra' }],
  ['answer', { request_id: 'which', decision: { text: 'All' } }],
  ['answer', { request_id: 'which', decision: { text: 'None' } }],
  ['interrupt', {}],
  ['suspend', {}],
  ['close', {}],
  ['subscribe', { after: 0 }],
  ['unsubscribe', {}],
];

describe('to sockets of those who may not see them, hidden nodes and their sessions', () => {
  it('change nothing: no state, no event, no refusal, no node or file that is told to have changed [access.hidden.nowhere] [access.hidden.two-worlds] [ws.session-state.visible-only] [ws.watch.visible-only]', async () => {
    const told = await inBothWorlds(tell);
    expect(told[0].length).toBeGreaterThan(200);
    const text = told[0].join('\n');
    for (const shown of ['Zebra count', 'About the zebra', 'SESSION_NOT_FOUND', 'SESSION_FORBIDDEN', FILLER])
      expect(text).toContain(shown);
    expectSame(told);
  }, 300_000);
});

async function tell(world: RunningWorld, withSecrets: boolean): Promise<readonly string[]> {
  await world.sql(baselineSql(withSecrets));
  const surface = {
    sql: (text: string) => world.sql(text),
    manage: world.manage,
    tell: () => Promise.reject(new Error('Nobody asks through this one')),
  };
  const [secrets, hidden] = [withSecrets ? await plantSecrets(surface) : noSecrets(), neverWere()];
  await world.sql(sessionsSql());
  if (withSecrets) await world.sql(hiddenSql(secrets, hidden));
  const transcript = new Transcript({ ...secrets, ...hidden });
  await using sockets = new Sockets(world, transcript);
  await sockets.open();
  if (withSecrets) {
    await stirSecrets(surface, secrets);
    await world.sql(stirSql(hidden));
    await workHidden(world, secrets);
    await joinSecret(surface, secrets);
  }
  // What is heard later was not heard before: all that the secrets could have moved is through by then.
  await surface.manage(updateNode, { node_id: FILLER, name: 'Filler renamed' });
  await surface.manage(logEvent, { node_id: NODES.beta, kind: 'note', content: 'Told to everybody' });
  await sockets.hear([FILLER, NODES.beta]);
  for (const sessionId of [...Object.values(SESSIONS), hidden.ofArea, hidden.ofBelow, hidden.own])
    for (const [type, payload] of FRAMES) await sockets.askAll(type, { session_id: sessionId, ...payload });
  sockets.noteStates();
  return transcript.lines;
}

/** An agent that works at a hidden node, and is gone. */
async function workHidden(world: RunningWorld, { area }: Secrets): Promise<void> {
  await using agent = await McpSpeaker.connect(world.client('manager'), 'legacy', { home_node_id: area });
  await agent.callTool(logEvent, { node_id: area, kind: 'note', content: 'Zebra secret note' });
  await agent.callTool(logSession, { text: 'Zebra' });
  await agent.callTool(logSession, { kind: 'handoff', title: 'Zebra', text: 'Secret' });
}

interface Asked {
  readonly session_id: string;
  readonly after?: number;
}

/** A socket of each role; everything that one is told is written down. */
class Sockets implements AsyncDisposable {
  private readonly clients = new Map<Speaker, LiveClient>();

  constructor(
    private readonly world: RunningWorld,
    private readonly transcript: Transcript,
  ) {}

  /** Opens them and lets them watch. */
  async open(): Promise<void> {
    for (const role of ROLES) {
      const client = await LiveClient.open(this.world.url, this.world.client(role).token);
      this.clients.set(role, client);
      this.add(role, 'watch', await client.ask('watch', { graph: true, files: true }));
    }
  }

  /** Waits until each has heard that these nodes have changed, and writes down all that it was told until then. */
  async hear(nodeIds: readonly string[]): Promise<void> {
    for (const [role, client] of this.clients) {
      const heard = (): string[] => client.of('graph_changed').flatMap(nodesOf);
      await client.until(() => nodeIds.every((id) => heard().includes(id)), 'what everybody sees');
      this.add(role, 'graph_changed', inOrder(heard()));
      this.add(role, 'files_changed', inOrder(client.of('files_changed').flatMap(nodesOf)));
      for (const { payload } of client.of('session_state')) this.add(role, 'session_state', payload);
    }
  }

  async askAll(type: ClientFrameType, payload: Asked): Promise<void> {
    for (const [role, client] of this.clients) {
      const others = client.frames.filter((frame) => frame.type !== 'event');
      client.frames.splice(0, client.frames.length, ...others);
      const { id: _, ...answer } = await client.ask(type, payload);
      this.add(role, type, { payload, answer });
      if (type === 'subscribe' && answer.type === 'reply')
        await this.noteReplay(role, payload, Number(answer.payload['last_seq']));
    }
  }

  /** Of which sessions each has ever been told a state. */
  noteStates(): void {
    for (const [role, client] of this.clients)
      this.add(role, 'all states', inOrder(client.of('session_state').map(({ payload }) => payload.session_id)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.clients.values()) await client[Symbol.asyncDispose]();
  }

  /** The events that a subscription begins with; what is told live comes when it comes. */
  private async noteReplay(role: Speaker, { session_id, after = 0 }: Asked, last: number): Promise<void> {
    const client = this.clients.get(role) as LiveClient;
    const events = () => client.events(session_id).filter(({ seq }) => seq > after && seq <= last);
    await client.until(() => after >= last || events().some(({ seq }) => seq === last), 'the replay');
    for (const event of new Map(events().map((one) => [one.seq, one])).values()) this.add(role, 'event', event);
  }

  private add(role: Speaker, label: string, told: unknown): void {
    this.transcript.add(`${role}: ${label}`, JSON.stringify(told));
  }
}

/** Of a frame of watching; one that says to look at everything names no node. */
function nodesOf({ payload }: ReceivedFrame): string[] {
  return payload['everything'] ? ['everything'] : (payload['node_ids'] as string[]);
}

function inOrder(ids: readonly string[]): string[] {
  return [...new Set(ids)].toSorted();
}
