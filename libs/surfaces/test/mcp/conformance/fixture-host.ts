import type { McpSettings } from '../../../src/mcp/index.js';
import { type McpHost, startHost } from '../host.js';
import { createFixtureServer } from './fixture-server.js';

/**
 * The product's edge and transport with the fixtures that the suite expects instead of the product's tools. Replies are
 * what the product's are, or streams, on which a call may tell and ask something before its result.
 */
export async function startFixtureHost({ jsonReplies }: Pick<McpSettings, 'jsonReplies'>): Promise<McpHost> {
  return startHost({
    settings: { jsonReplies },
    serve: (hub) => () =>
      createFixtureServer({
        toolsChanged: () => hub.publish({ kind: 'tools_list_changed' }),
        promptsChanged: () => hub.publish({ kind: 'prompts_list_changed' }),
      }),
  });
}
