import { AGENT_TOKEN_VARIABLE, type ClientConfigFile } from '@workspace-graph/contracts';
import type { z } from 'zod';
import { jsonEntry } from './json-entry.js';
import type { OwnedText } from './owned-text.js';
import { type Apart, type Table, tomlBlock } from './toml-block.js';

/** Under which agents know us. */
const NAME = 'workspace-graph';

/** A configuration file of an agent client in the folder of a node. */
export interface AgentFile {
  readonly client: Exclude<z.infer<typeof ClientConfigFile>['client'], 'scope'>;
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
    path: '.mcp.json',
    entry: (url) =>
      jsonEntry(
        { group: 'mcpServers', name: NAME },
        { type: 'http', url, headers: { Authorization: `Bearer \${${AGENT_TOKEN_VARIABLE}}` } },
      ),
  },
  {
    client: 'codex',
    path: '.codex/config.toml',
    entry: (url) =>
      tomlBlock(
        `[mcp_servers.${NAME}]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "${AGENT_TOKEN_VARIABLE}"`,
        codexApart,
      ),
  },
  // A profile, `vibe --agent workspace-graph`, comes on top of the person's own configuration.
  { client: 'mistral-vibe', path: `.vibe/agents/${NAME}.toml`, entry: vibeEntry },
  { client: 'mistral-vibe', path: '.vibe/config.toml', joinsOnly: true, entry: vibeEntry },
];

function vibeEntry(url: string): OwnedText {
  const lines = [
    '[[mcp_servers]]',
    `name = "${NAME}"`,
    'transport = "streamable-http"',
    `url = ${JSON.stringify(url)}`,
    `api_key_env = "${AGENT_TOKEN_VARIABLE}"`,
  ];
  return tomlBlock(lines.join('\n'), vibeApart);
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
  const { [NAME]: own, ...rest } = servers;
  return {
    own: own === undefined ? [] : [own],
    others: Object.keys(rest).length === 0 ? others : { ...others, mcp_servers: rest },
  };
}

/** Vibe has a list of servers with names. */
function vibeApart({ mcp_servers: servers, ...others }: Table): Apart {
  if (!Array.isArray(servers))
    return { own: [], others: servers === undefined ? others : { ...others, mcp_servers: servers } };
  const isOwn = (server: unknown): boolean => isTable(server) && server['name'] === NAME;
  const rest = servers.filter((server) => !isOwn(server));
  return { own: servers.filter(isOwn), others: rest.length === 0 ? others : { ...others, mcp_servers: rest } };
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
