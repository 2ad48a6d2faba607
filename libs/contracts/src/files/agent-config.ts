/** Environment variable from which agents take the credential; a credential itself is never written. */
export const AGENT_TOKEN_VARIABLE = 'SVC_TOKEN';
/** Under which agents know us. */
export const AGENT_SERVER_NAME = 'workspace-graph';

/** Agent clients whose configuration we know. */
export const AGENT_CLIENTS = ['claude-code', 'codex', 'mistral-vibe'] as const;
export type AgentClient = (typeof AGENT_CLIENTS)[number];

/**
 * Where each of them reads our entry, within the folder in which it starts. For Vibe this is a profile, which comes on top of
 * the person's own configuration: a `.vibe/config.toml` of the folder may stand in its place.
 */
export const AGENT_CONFIG_PATHS: Readonly<Record<AgentClient, string>> = {
  'claude-code': '.mcp.json',
  codex: '.codex/config.toml',
  'mistral-vibe': `.vibe/agents/${AGENT_SERVER_NAME}.toml`,
};

/** How Vibe is started with that profile. */
export const VIBE_COMMAND = `vibe --agent ${AGENT_SERVER_NAME}`;

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
