export { McpModule, type McpModuleOptions, McpService } from './mcp.module.js';
export { DEFAULT_MCP_SETTINGS, type McpSettings } from './mcp-settings.js';
export type { CreateServer } from './protocol-servers.js';
export { StreamHub } from './stream-hub.js';
export { ToolTable } from './tool-table.js';
