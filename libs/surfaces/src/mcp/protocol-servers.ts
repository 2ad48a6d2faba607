import type { Implementation, McpServer, Server, ServerOptions } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { Completions } from './completions.js';
import { type Connection, currentConnection, type WatchedNode } from './connection.js';
import { buildGuides } from './guides/guides.js';
import { instructionsFor } from './instructions.js';
import type { OperationBus } from './operation-bus.js';
import { getPrompt, listPrompts } from './prompts.js';
import { protocolError } from './protocol-errors.js';
import type { Agent, SessionRecords } from './records/session-records.js';
import { Resources } from './resources.js';
import { ToolCalls } from './tool-calls.js';
import type { ToolTable } from './tool-table.js';
import { type Enter, WordedServer } from './worded-server.js';

/** Keeps what a session of a handshake protocol watches. */
export interface Watching {
  watch(node: WatchedNode): void;
  unwatch(uri: string): void;
}

/** Makes the protocol server of a session, which watches, or of one request of the newest protocol. */
export type CreateServer = (watching?: Watching) => Server | McpServer;

const CACHE_HINTS: ServerOptions['cacheHints'] = {
  'server/discover': { ttlMs: 60_000, cacheScope: 'private' },
  'tools/list': { ttlMs: 60_000, cacheScope: 'private' },
  'prompts/list': { ttlMs: 60_000, cacheScope: 'private' },
  'resources/list': { ttlMs: 3_600_000, cacheScope: 'public' },
  'resources/templates/list': { ttlMs: 3_600_000, cacheScope: 'public' },
};

/**
 * Makes protocol servers: one for each session of a handshake protocol, one for each request of the newest. They hold
 * references only; tools, schemas, guides and options are built here, once.
 */
export class ProtocolServers {
  private readonly calls: ToolCalls;
  private readonly resources: Resources;
  private readonly completions: Completions;
  private readonly options: ServerOptions;

  constructor(
    private readonly table: ToolTable,
    bus: OperationBus,
    private readonly version: string,
    private readonly records: SessionRecords | null = null,
  ) {
    this.calls = new ToolCalls(table, bus);
    this.resources = new Resources(buildGuides(table), bus);
    this.completions = new Completions(bus);
    this.options = {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        prompts: { listChanged: true },
        completions: {},
      },
      instructions: instructionsFor(table),
      jsonSchemaValidator: new AjvJsonSchemaValidator(),
      cacheHints: CACHE_HINTS,
    };
  }

  create(watching?: Watching): Server {
    const server = new WordedServer(
      { name: 'workspace-graph', title: 'Workspace Graph', version: this.version },
      this.options,
      this.enter,
    );
    this.serveTools(server);
    this.serveResources(server);
    if (watching) this.serveWatching(server, watching);
    servePrompts(server);
    server.setRequestHandler('completion/complete', ({ params }, ctx) =>
      this.completions.complete(params, ctx.mcpReq.signal),
    );
    return server;
  }

  private readonly enter: Enter = async (connection, server) => {
    const client = server.getClientVersion();
    if (!this.records || !client) return connection;
    const session_id = await this.records.use(agentKeyOf(connection, client.name), agentOf(connection, client));
    return { ...connection, caller: { ...connection.caller, session_id } };
  };

  private serveTools(server: Server): void {
    server.setRequestHandler('tools/list', () => ({
      tools: [...this.table.listFor(currentConnection().caller.scope)],
    }));
    server.setRequestHandler('tools/call', ({ params }, ctx) =>
      this.calls.call({
        name: params.name,
        arguments: params.arguments ?? {},
        signal: ctx.mcpReq.signal,
      }),
    );
  }

  private serveResources(server: Server): void {
    server.setRequestHandler('resources/list', () => ({ resources: [...this.resources.list] }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...this.resources.templates] }));
    server.setRequestHandler('resources/read', ({ params }, ctx) => this.resources.read(params.uri, ctx.mcpReq.signal));
  }

  private serveWatching(server: Server, watching: Watching): void {
    server.setRequestHandler('resources/subscribe', async ({ params }, ctx) => {
      const node = await this.resources.watched(params.uri, ctx.mcpReq.signal);
      if (node) watching.watch(node);
      return {};
    });
    server.setRequestHandler('resources/unsubscribe', ({ params }) => {
      watching.unwatch(params.uri);
      return {};
    });
  }
}

function servePrompts(server: Server): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts(currentConnection().caller.scope) }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    const { caller, requestId } = currentConnection();
    try {
      return getPrompt(params.name, params.arguments ?? {}, caller.scope);
    } catch (error) {
      throw protocolError(error, requestId);
    }
  });
}

const LONGEST = 200;

/** What tells an agent from others: its session with a handshake, or who asks under which name, about what. */
function agentKeyOf({ caller, isConnected, namedSessionId, program }: Connection, client: string): string {
  const key = caller.session_key ?? '';
  return isConnected ? key : JSON.stringify([key, namedSessionId, program, client]);
}

function agentOf({ caller, isConnected, namedSessionId, program }: Connection, client: Implementation): Agent {
  const { name, title = null, version } = client;
  const plain = (text: string): string => text.replaceAll('\0', '').toWellFormed().slice(0, LONGEST).toWellFormed();
  return {
    caller,
    client: { name: plain(name), title: title === null ? null : plain(title), version: plain(version) },
    sessionId: namedSessionId,
    program,
    isConnected,
  };
}
