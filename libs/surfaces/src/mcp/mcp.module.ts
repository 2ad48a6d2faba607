import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Bus } from '@workspace-graph/bus';
import { OPERATIONS, type Operation } from '@workspace-graph/contracts';
import type { FastifyInstance } from 'fastify';
import { EDGE_PARTS, EdgeAuthenticator, type EdgeParts } from '../edge/index.js';
import { mcpRoutes } from './mcp.plugin.js';
import { McpEndpoint } from './mcp-endpoint.js';
import { DEFAULT_MCP_SETTINGS, type McpSettings } from './mcp-settings.js';
import { NodeWatch } from './node-watch.js';
import { type CreateServer, ProtocolServers } from './protocol-servers.js';
import { SessionRecords } from './records/session-records.js';
import { StreamHub } from './stream-hub.js';
import { ToolTable } from './tool-table.js';

const MCP_OPTIONS = Symbol('workspace-graph:mcp-options');
const PATH = '/mcp';

/** Options of the MCP endpoint. */
export interface McpModuleOptions {
  /** Operations that become tools. Default: all with an MCP binding. */
  readonly operations?: readonly Operation[];
  /** Operations that this workspace can only refuse: their tools are not listed, and a call returns the reason. */
  readonly unlisted?: readonly Operation[];
  /** Replaces single values of `DEFAULT_MCP_SETTINGS`. */
  readonly settings?: Partial<McpSettings>;
  /** Whether each agent has a session, which the session service keeps. Default: none has. */
  readonly recordsSessions?: boolean;
  /** What the endpoint serves. Default: every operation with an MCP binding as a tool, the guides and the nodes as resources. */
  readonly serve?: (hub: StreamHub) => CreateServer;
}

/** Builds the MCP endpoint at boot, hangs it into the HTTP server, and closes its streams when the process stops. */
@Injectable()
export class McpService implements OnModuleInit, BeforeApplicationShutdown {
  private readonly endpoint: McpEndpoint;
  private readonly settings: McpSettings;

  constructor(
    @Inject(MCP_OPTIONS) {
      settings,
      serve,
      operations = [...OPERATIONS.values()],
      unlisted = [],
      recordsSessions = false,
    }: McpModuleOptions,
    @Inject(EDGE_PARTS) { bus, logger, metrics }: EdgeParts,
    @Inject(EdgeAuthenticator) authenticator: EdgeAuthenticator,
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
  ) {
    this.settings = { ...DEFAULT_MCP_SETTINGS, ...settings };
    const nodes = new NodeWatch(bus, this.settings.watchDelayMs);
    const hub = new StreamHub(nodes);
    const tools = new ToolTable(operations, unlisted);
    const records = recordsSessions ? new SessionRecords(bus, logger) : null;
    const createServer = serve ? serve(hub) : productServers({ bus, tools, version: this.settings.version, records });
    this.endpoint = new McpEndpoint({
      authenticator,
      bus,
      nodes,
      hub,
      createServer,
      records,
      settings: this.settings,
      logger,
    });
    metrics.watch('mcp_sessions', 'Open MCP sessions.', () => this.counts.sessions);
    metrics.watch('mcp_streams', 'Open MCP streams.', () => this.counts.streams);
  }

  /** Open sessions and streams, and calls under way. */
  get counts(): McpEndpoint['counts'] {
    return this.endpoint.counts;
  }

  /** Tells the `session_key` of each session that ends. Returns the function that ends listening. */
  onSessionEnded(listener: (sessionKey: string) => void): () => void {
    return this.endpoint.onSessionEnded(listener);
  }

  async onModuleInit(): Promise<void> {
    await this.endpoint.start();
    const server = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    void server.register(mcpRoutes(this.endpoint, PATH, this.settings.bodyBytes));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.endpoint.close();
  }
}

/** MCP over Streamable HTTP at `/mcp`. Needs the `EdgeModule` before it. */
@Module({})
export class McpModule {
  static forRoot(options: McpModuleOptions = {}): DynamicModule {
    return {
      module: McpModule,
      providers: [{ provide: MCP_OPTIONS, useValue: options }, McpService],
      exports: [McpService],
    };
  }
}

interface ProductParts {
  readonly bus: Bus;
  readonly tools: ToolTable;
  readonly version: string;
  readonly records: SessionRecords | null;
}

function productServers({ bus, tools, version, records }: ProductParts): CreateServer {
  const servers = new ProtocolServers(tools, bus, version, records);
  return (watching) => servers.create(watching);
}
