import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { getOverview, logEvent, OPERATIONS, setAccess } from '@workspace-graph/contracts';
import fc from 'fast-check';
import { type HostileMessage, hostileCalls, hostileMessages } from './hostile-input.js';
import type { LiveClient } from './live-client.js';
import { LiveWorld, type Person } from './live-world.js';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? 20_261_123);
const FRAMES = Number(process.env['SVC_FUZZ_FRAMES'] ?? 1_000);
const CALLS = Number(process.env['SVC_FUZZ_CALLS'] ?? 1_000);
const TIMEOUT_MS = 120_000 + (FRAMES + CALLS) * 100;
/** Of one socket: more of them a second are refused for their number. */
const PER_SOCKET = 60;
const MOST_GROWN_BYTES = 500e6;
/** In every text of what is hidden. */
const SECRET = 'Xanthippe';
/** Not UTF-8, larger than a frame may be, or no data that a client sends. */
const CLOSED_FOR = [1002, 1003, 1007, 1009];
/** Tools of the services that are here; those of a device have a search of their own. */
const SERVED = new Set(
  [...OPERATIONS.values()].flatMap(({ owner, mcp }) =>
    mcp && ['graph', 'identity', 'session'].includes(owner) ? [mcp.tool as string] : [],
  ),
);
const ERAS = [
  ['handshake', 'legacy'],
  ['newest', 'auto'],
] as const satisfies (readonly [string, VersionNegotiationMode])[];

let world: LiveWorld;
let writer: Person;
let manager: Person;
/** Of nodes, sessions and events, seen and hidden. */
let ids: string[];
beforeAll(async () => {
  world = await LiveWorld.start();
  [writer, manager] = [await world.person('Wil', 'write'), await world.person('Mia', 'manage')];
  const [seen, hidden] = [await world.node('Seen'), await world.node(`${SECRET} hall`)];
  const event = await world.call(
    logEvent,
    { node_id: hidden.id, kind: 'note', content: `${SECRET} pays` },
    world.admin.caller,
  );
  const secret = await world.connect(hidden.id, world.admin);
  await world.say(secret, world.admin, `${SECRET} said so`);
  await world.call(setAccess, { node_id: hidden.id, visibility: 'private', confirmed: true }, world.admin.caller);
  const own = await world.connect(seen.id, writer);
  await world.say(own, writer, 'Hello', 'again');
  ids = [
    seen.id,
    hidden.id,
    event.id,
    secret.id,
    own.id,
    '00000000-0000-7000-8000-00000000dead',
    'Seen',
    // By its name too, in letters in which nobody but the caller writes it: what it has sent itself may come back to it.
    `${SECRET.toLowerCase()} hall`,
  ];
});
afterAll(() => world[Symbol.asyncDispose]());

/** @throws when a text tells what is hidden, or that something of ours has failed */
function expectHarmless(asked: unknown, answered: string, mayTell: boolean): void {
  const said = [answered.includes('"INTERNAL"'), !mayTell && answered.includes(SECRET)];
  expect([JSON.stringify(asked)?.slice(0, 2_000), answered.slice(0, 2_000), said]).toEqual([
    expect.anything(),
    expect.anything(),
    [false, false],
  ]);
}

async function expectWhole(before: NodeJS.MemoryUsage): Promise<void> {
  // A new one: what was there before, whoever manages may have hidden or archived.
  const { id: made } = await world.node('Still whole');
  expect((await world.call(getOverview, {}, writer.caller)).new_nodes.map(({ id }) => id)).toContain(made);
  expect(world.log.filter((line) => line.includes('"level":"error"') || line.includes('"level":50'))).toEqual([]);
  expect(process.memoryUsage().rss - before.rss).toBeLessThan(MOST_GROWN_BYTES);
}

function send({ socket }: LiveClient, { data, binary, parts }: HostileMessage): void {
  const bytes = Buffer.from(data);
  const size = Math.ceil(bytes.length / parts) || 1;
  for (let part = 0; part < parts; part += 1)
    socket.send(bytes.subarray(part * size, (part + 1) * size), { binary, fin: part === parts - 1 });
}

/** Sends messages until the server has had enough of them. Answers those that are left. */
async function sendAll(client: LiveClient, messages: readonly HostileMessage[]): Promise<readonly HostileMessage[]> {
  for (const [place, message] of messages.entries()) {
    if (client.closed || client.socket.readyState !== client.socket.OPEN) return messages.slice(place);
    send(client, message);
    // A message at a time now and then, so that a close is seen where it belongs.
    if (place % 10 === 9) await new Promise((resolve) => setImmediate(resolve));
  }
  return [];
}

it(
  `${FRAMES} hostile messages on the live channel stop nothing, break nothing and learn nothing [ws.frame.refusal-keeps-socket]`,
  async () => {
    const before = process.memoryUsage();
    let left: readonly HostileMessage[] = fc.sample(hostileMessages(ids), { numRuns: FRAMES, seed: SEED });
    while (left.length > 0) {
      const client = await world.client(writer);
      const batch = left.slice(0, PER_SOCKET);
      const unsent = await sendAll(client, batch);
      left = [...unsent, ...left.slice(PER_SOCKET)];
      const asked = { type: 'unsubscribe', id: 'the last', payload: { session_id: ids[4] } };
      if (!client.closed) client.send(asked);
      await client.until(
        () => client.closed !== undefined || client.frames.some(({ id }) => id === asked.id),
        'the answer to the last',
      );
      if (client.closed) expect(CLOSED_FOR).toContain(client.closed.code);
      expectHarmless(
        batch.map(({ data }) => Buffer.from(data).toString()),
        JSON.stringify(client.frames),
        false,
      );
      await client[Symbol.asyncDispose]();
    }
    await expectWhole(before);
  },
  TIMEOUT_MS,
);

describe.each(ERAS)('hostile calls of tools in the %s protocol', (_era, mode) => {
  it.each([
    ['write', () => writer, Math.ceil(CALLS * 0.3)],
    ['manage', () => manager, Math.ceil(CALLS * 0.2)],
  ] as const)(
    'with the scope %s are answered or refused, break nothing and learn nothing',
    async (scope, personOf, count) => {
      const before = process.memoryUsage();
      const client = new Client({ name: 'hostile', version: '1' }, { versionNegotiation: { mode } });
      const requestInit = { headers: { authorization: `Bearer ${personOf().token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { requestInit }));
      const tools = (await client.listTools()).tools.filter(({ name }) => SERVED.has(name));
      for (const call of fc.sample(hostileCalls(tools, ids), { numRuns: count, seed: SEED })) {
        const answer = await client.callTool(call).catch((error: unknown) => error);
        const data = answer instanceof Error ? Reflect.get(answer, 'data') : answer;
        const message = answer instanceof Error ? answer.message : '';
        expectHarmless(call, `${message} ${JSON.stringify(data)}`, scope === 'manage');
      }
      await client.close();
      await expectWhole(before);
    },
    TIMEOUT_MS,
  );
});
