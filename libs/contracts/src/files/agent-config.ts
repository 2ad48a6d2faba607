/** Environment variable from which agents take the credential; a credential itself is never written. */
export const AGENT_TOKEN_VARIABLE = 'SVC_TOKEN';
/** Under which agents know us. */
export const AGENT_SERVER_NAME = 'workspace-graph';

/** Agent clients whose configuration we know. */
export const AGENT_CLIENTS = ['claude-code', 'codex', 'mistral-vibe'] as const;
export type AgentClient = (typeof AGENT_CLIENTS)[number];

/** Where each of them reads its configuration, within the folder in which it starts. */
export const AGENT_CONFIG_PATHS: Readonly<Record<AgentClient, string>> = {
  'claude-code': '.mcp.json',
  codex: '.codex/config.toml',
  'mistral-vibe': '.vibe/config.toml',
};

/** The value of our entry in JSON, with Claude Code. */
export function agentEntry(url: string) {
  return { type: 'http', url, headers: { Authorization: `Bearer \${${AGENT_TOKEN_VARIABLE}}` } };
}

/** Our entry in TOML. */
export function agentTable(client: Exclude<AgentClient, 'claude-code'>, url: string): string {
  const address = `url = ${JSON.stringify(url)}`;
  if (client === 'codex')
    return [`[mcp_servers.${AGENT_SERVER_NAME}]`, address, `bearer_token_env_var = "${AGENT_TOKEN_VARIABLE}"`].join(
      '\n',
    );
  return [
    '[[mcp_servers]]',
    `name = "${AGENT_SERVER_NAME}"`,
    'transport = "streamable-http"',
    address,
    `api_key_env = "${AGENT_TOKEN_VARIABLE}"`,
  ].join('\n');
}

/** A whole configuration that holds nothing but our entry; `url` is that of the MCP endpoint. */
export function agentConfig(client: AgentClient, url: string): string {
  if (client === 'claude-code')
    return JSON.stringify({ mcpServers: { [AGENT_SERVER_NAME]: agentEntry(url) } }, null, 2);
  return agentTable(client, url);
}
