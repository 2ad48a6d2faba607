import {
  AGENT_CONFIG_PATHS,
  AGENT_SERVER_NAME,
  type AgentClient,
  agentEntry,
  agentTable,
} from '@workspace-graph/contracts';
import { jsonEntry } from './json-entry.js';
import type { OwnedText } from './owned-text.js';
import { type Apart, type Table, tomlBlock } from './toml-block.js';

/** A configuration file of an agent client in the folder of a node. */
export interface AgentFile {
  readonly client: AgentClient;
  /** Within the folder. */
  readonly path: string;
  /** True: a file that is made where there is none would take the place of the person's own configuration. */
  readonly joinsOnly?: boolean;
  /** Our entry in it; `url` is that of the MCP endpoint with the home node. */
  readonly entry: (url: string) => OwnedText;
}

export const AGENT_FILES: readonly AgentFile[] = [
  {
    client: 'claude-code',
    path: AGENT_CONFIG_PATHS['claude-code'],
    entry: (url) => jsonEntry({ group: 'mcpServers', name: AGENT_SERVER_NAME }, agentEntry(url)),
  },
  {
    client: 'codex',
    path: AGENT_CONFIG_PATHS.codex,
    entry: (url) => tomlBlock(agentTable('codex', url), codexApart),
  },
  { client: 'mistral-vibe', path: AGENT_CONFIG_PATHS['mistral-vibe'], entry: vibeEntry },
  // Where the person has one, it may be all that Vibe reads.
  { client: 'mistral-vibe', path: '.vibe/config.toml', joinsOnly: true, entry: vibeEntry },
];

function vibeEntry(url: string): OwnedText {
  return tomlBlock(agentTable('mistral-vibe', url), vibeApart);
}

/** The address that makes a node the home node of a connection. */
export function homeUrl(mcpUrl: string, nodeId: string): string {
  const url = new URL(mcpUrl);
  url.searchParams.set('home_node_id', nodeId);
  return url.href;
}

/** Codex has a table of servers by name. */
function codexApart({ mcp_servers: servers, ...others }: Table): Apart {
  if (!isTable(servers))
    return { own: [], others: servers === undefined ? others : { ...others, mcp_servers: servers } };
  const { [AGENT_SERVER_NAME]: own, ...rest } = servers;
  return {
    own: own === undefined ? [] : [own],
    others: Object.keys(rest).length === 0 ? others : { ...others, mcp_servers: rest },
  };
}

/** Vibe has a list of servers with names. */
function vibeApart({ mcp_servers: servers, ...others }: Table): Apart {
  if (!Array.isArray(servers))
    return { own: [], others: servers === undefined ? others : { ...others, mcp_servers: servers } };
  const isOwn = (server: unknown): boolean => isTable(server) && server['name'] === AGENT_SERVER_NAME;
  const rest = servers.filter((server) => !isOwn(server));
  return { own: servers.filter(isOwn), others: rest.length === 0 ? others : { ...others, mcp_servers: rest } };
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
