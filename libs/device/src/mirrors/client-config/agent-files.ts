import type { ClientConfigFile } from '@workspace-graph/contracts';
import type { z } from 'zod';
import { jsonEntry } from './json-entry.js';
import type { OwnedText } from './owned-text.js';
import { type Apart, type Table, tomlBlock } from './toml-block.js';

/** Under which agents know us. */
const NAME = 'workspace-graph';
/** Environment variable from which agents take the credential; a credential itself is never written. */
const TOKEN_VARIABLE = 'SVC_TOKEN';

/** A configuration file of an agent client in the folder of a node. */
export interface AgentFile {
  readonly client: Exclude<z.infer<typeof ClientConfigFile>['client'], 'scope'>;
  /** Within the folder. */
  readonly path: string;
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
        { type: 'http', url, headers: { Authorization: `Bearer \${${TOKEN_VARIABLE}}` } },
      ),
  },
  {
    client: 'codex',
    path: '.codex/config.toml',
    entry: (url) =>
      tomlBlock(
        `[mcp_servers.${NAME}]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "${TOKEN_VARIABLE}"`,
        codexApart,
      ),
  },
  {
    client: 'mistral-vibe',
    path: '.vibe/config.toml',
    entry: (url) =>
      tomlBlock(
        `[[mcp_servers]]\nname = "${NAME}"\ntransport = "streamable-http"\nurl = ${JSON.stringify(url)}\napi_key_env = "${TOKEN_VARIABLE}"`,
        vibeApart,
      ),
  },
];

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
