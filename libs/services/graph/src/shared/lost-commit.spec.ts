import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Server, type Socket } from 'node:net';
import { addTool, logEvent, type OutputOf, type RawJson, setAccess } from '@workspace-graph/contracts';
import { type CommandContext, Database } from '@workspace-graph/database';
import { newId, type OperationContext } from '@workspace-graph/platform';
import { AccessHandlers } from '../access/access.handlers.js';
import { EventHandlers } from '../events/event.handlers.js';
import { LinkHandlers } from '../links/link.handlers.js';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

/** Passes bytes between the service and its database, until it has passed a word on: then the answer is lost. */
class LossyLine {
  losesAnswerTo: string | undefined;
  losses = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async open({ hostname, port }: URL): Promise<LossyLine> {
    const server = createServer();
    const line = new LossyLine(server);
    server.on('connection', (near) => line.join(near, connectTo(Number(port), hostname)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return line;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(near: Socket, far: Socket): void {
    let lost = false;
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    near.on('data', (bytes) => {
      far.write(bytes);
      if (this.losesAnswerTo === undefined || !bytes.includes(this.losesAnswerTo)) return;
      this.losesAnswerTo = undefined;
      this.losses += 1;
      lost = true;
      // Long enough for the server to have done it.
      setTimeout(() => near.destroy(), 100);
    });
    far.on('data', (bytes) => lost || near.write(bytes));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  }
}

let graph: GraphFixture;
let line: LossyLine;
let database: Database;
beforeAll(async () => {
  graph = await startGraph();
  const url = new URL(String(graph.database.pool.options.connectionString));
  line = await LossyLine.open(url);
  url.host = `127.0.0.1:${line.port}`;
  database = new Database({ url: url.href, poolSize: 2 });
});
afterAll(async () => {
  await database.close();
  await line.close();
  await graph.close();
});

/** One call, as the registry would make it. */
function contextOf(operation: OperationContext['operation'], input: object): OperationContext {
  const envelope: CommandContext['envelope'] = { callId: newId(), requestId: 'r', caller: graph.admin };
  const parsed = operation.input.parse(input);
  return { operation, input: parsed, envelope, caller: graph.admin, signal: new AbortController().signal };
}

const parsedOf = (reply: unknown): unknown => ('parse' in (reply as RawJson) ? (reply as RawJson).parse() : reply);
const applied = async () =>
  (await graph.sql<{ n: number }>('SELECT count(*)::int AS n FROM outbox.applied_call'))[0]?.n ?? 0;

describe('a change whose commit is not answered, because the line breaks', () => {
  it('is found to be carried out, when an event is logged', async () => {
    const { id } = await graph.node('area', 'Logged');
    const context = contextOf(logEvent, { node_id: id, kind: 'note', content: 'Once' });
    const before = await applied();
    line.losesAnswerTo = 'COMMIT';
    const reply = await new EventHandlers(database).log(logEvent.input.parse(context.input), context);
    expect(parsedOf(reply)).toMatchObject({ node_id: id, content: 'Once' } satisfies Partial<
      OutputOf<typeof logEvent>
    >);
    expect([line.losses, (await applied()) - before]).toEqual([1, 1]);
  });

  it('is found to be carried out, when something is added to a node', async () => {
    const { id } = await graph.node('area', 'Tooled');
    const context = contextOf(addTool, { node_id: id, name: 'Hammer' });
    const before = await applied();
    line.losesAnswerTo = 'COMMIT';
    const reply = await new LinkHandlers(database).addTool(addTool.input.parse(context.input), context);
    expect(parsedOf(reply)).toMatchObject({ name: 'Hammer' });
    expect([line.losses, (await applied()) - before]).toEqual([2, 1]);
  });

  it('is found to be carried out, when it moves access', async () => {
    const { id } = await graph.node('area', 'Shared');
    const context = contextOf(setAccess, { node_id: id, visibility: 'private' });
    const before = await applied();
    line.losesAnswerTo = 'COMMIT';
    const reply = await new AccessHandlers(database).set(setAccess.input.parse(context.input), context);
    expect(parsedOf(reply)).toMatchObject({ applied: true, access: { own: { visibility: 'private' } } });
    expect([line.losses, (await applied()) - before]).toEqual([3, 1]);
  });
});
