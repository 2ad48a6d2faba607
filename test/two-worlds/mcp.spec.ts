import { setTimeout as sleep } from 'node:timers/promises';
import type { VersionNegotiationMode } from '@modelcontextprotocol/client';
import { getContext, listNodes, logEvent, updateNode } from '@workspace-graph/contracts';
import { until } from '../central/central-world.js';
import { baselineSql, FILLER, NODES } from './baseline.js';
import { McpSpeaker, uriOf } from './mcp-speaker.js';
import { expectSame, inBothWorlds, type RunningWorld } from './running-world.js';
import { joinSecret, noSecrets, plantSecrets, type Secrets, stirSecrets } from './secrets.js';
import { transcribeWorld } from './story.js';
import type { Role, Surface } from './surface.js';
import { Transcript } from './transcript.js';

/** One role speaks the protocols with a handshake, the other the newest. */
const MODES: Readonly<Record<Role, VersionNegotiationMode>> = { reader: 'legacy', writer: { pin: '2026-07-28' } };
const ROLES: readonly Role[] = ['reader', 'writer'];
const TEXTS = ['', 'be', 'secret', 'a', 'filler', 'Beta secret', 'zebra'];
const HEARD_MS = 60_000;
/** Longer than changes are gathered before they are told. */
const QUIET_MS = 300;

describe('to agents that may not see them, hidden nodes', () => {
  it('change nothing in the result of any tool [access.hidden.nowhere] [access.hidden.two-worlds]', async () => {
    const told = await inBothWorlds(async (world, withSecrets) => {
      await using surface = new McpSurface(world);
      return await transcribeWorld(surface, withSecrets);
    });
    expect(told[0].length).toBeGreaterThan(400);
    expectSame(told);
  }, 300_000);

  it('are in no list, completion, resource or home, and move no stream [access.hidden.nowhere] [access.hidden.two-worlds]', async () => {
    const told = await inBothWorlds(async (world, withSecrets) => {
      await using surface = new McpSurface(world);
      return await askBesidesTools(surface, withSecrets);
    });
    expect(told[0].length).toBeGreaterThan(50);
    expectSame(told);
  }, 300_000);
});

/** The tools of a workspace. What has no tool is asked over REST, so that the story can go on. */
class McpSurface implements Surface, AsyncDisposable {
  private readonly speakers = new Map<Role, McpSpeaker>();

  constructor(private readonly world: RunningWorld) {}

  readonly sql: Surface['sql'] = async (text) => {
    await this.world.sql(text);
    for (const role of ROLES) if (!this.speakers.has(role)) this.speakers.set(role, await this.connect(role));
  };

  readonly manage: Surface['manage'] = (operation, input) => this.world.manage(operation, input);

  readonly tell: Surface['tell'] = async (operation, input, role) => {
    const values = input as Record<string, unknown>;
    if (operation.mcp) return this.speaker(role).callTool(operation, values);
    const response = await this.world.client(role).send(operation, values, { 'x-request-id': 'request' });
    const text = await response.text();
    return { text, value: response.ok && text !== '' ? JSON.parse(text) : undefined };
  };

  speaker(role: Role): McpSpeaker {
    const speaker = this.speakers.get(role);
    if (!speaker) throw new Error('The ground is not laid');
    return speaker;
  }

  connect(role: Role, query: Readonly<Record<string, string>> = {}): Promise<McpSpeaker> {
    return McpSpeaker.connect(this.world.client(role), MODES[role], query);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const speaker of this.speakers.values()) await speaker[Symbol.asyncDispose]();
  }
}

/** Everything that MCP has besides tools, before and after the secrets move. */
async function askBesidesTools(surface: McpSurface, withSecrets: boolean): Promise<readonly string[]> {
  await surface.sql(baselineSql(withSecrets));
  const secrets = withSecrets ? await plantSecrets(surface) : noSecrets();
  const transcript = new Transcript(secrets);
  const watched = [...Object.values(NODES), FILLER, ...Object.values(secrets)];
  for (const role of ROLES) {
    await askLists(transcript, role, surface.speaker(role), secrets);
    transcript.add(`${role}: home`, await askHomes(surface, role, secrets));
    transcript.add(`${role}: watch`, await surface.speaker(role).watch(watched));
  }
  if (withSecrets) await stirSecrets(surface, secrets);
  // What is heard later was not heard before: all that the secrets could have moved is through by then.
  await surface.manage(updateNode, { node_id: FILLER, name: 'Filler renamed' });
  await noteHeard(surface, transcript, [FILLER]);
  // The new name has moved the filler in the lists of its neighbours, which only a look at them can show.
  if (withSecrets) await joinSecret(surface, secrets);
  await surface.manage(updateNode, { node_id: NODES.alpha, name: 'Alpha renamed' });
  await surface.manage(logEvent, { node_id: NODES.beta, kind: 'note', content: 'Told to everybody' });
  await noteHeard(surface, transcript, [FILLER, NODES.alpha, NODES.beta]);
  for (const role of ROLES) await askLists(transcript, role, surface.speaker(role), secrets);
  return transcript.lines;
}

/** Waits until everybody has heard of these nodes, and of nothing else. */
async function noteHeard(surface: McpSurface, transcript: Transcript, nodeIds: readonly string[]): Promise<void> {
  for (const role of ROLES) {
    const { heard } = surface.speaker(role);
    await until(`${role} hears of it`, () => nodeIds.every((id) => heard.includes(uriOf(id))), HEARD_MS);
    await sleep(QUIET_MS);
    expect(heard.toSorted()).toEqual(nodeIds.map(uriOf).toSorted());
    transcript.add(`${role}: heard`, JSON.stringify(heard.toSorted()));
  }
}

async function askLists(transcript: Transcript, role: Role, speaker: McpSpeaker, secrets: Secrets): Promise<void> {
  transcript.add(`${role}: tools`, await speaker.listTools());
  transcript.add(`${role}: resources`, await speaker.listResources());
  for (const text of TEXTS) transcript.add(`${role}: complete ${text}`, await speaker.complete(text));
  for (const [name, id] of Object.entries({ ...NODES, ...secrets }))
    transcript.add(`${role}: read ${name}`, await speaker.read(id));
}

/** What a connection is told whose home is a node that is hidden, or that never was. */
async function askHomes(surface: McpSurface, role: Role, secrets: Secrets): Promise<string> {
  const told: string[] = [];
  for (const home_node_id of [NODES.beta, secrets.area, secrets.organization]) {
    await using speaker = await surface.connect(role, { home_node_id });
    for (const operation of [listNodes, getContext]) told.push((await speaker.callTool(operation, {})).text);
  }
  return told.join('\n');
}
