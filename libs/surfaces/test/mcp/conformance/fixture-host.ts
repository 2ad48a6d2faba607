import { type McpHost, startHost } from '../host.js';
import { createFixtureServer } from './fixture-server.js';

/** The product's edge and transport with the fixtures that the suite expects instead of the product's tools. Replies may stream. */
export async function startFixtureHost(): Promise<McpHost> {
  return startHost({
    settings: { jsonReplies: false },
    serve: (hub) => () =>
      createFixtureServer({
        toolsChanged: () => hub.publish({ kind: 'tools_list_changed' }),
        promptsChanged: () => hub.publish({ kind: 'prompts_list_changed' }),
      }),
  });
}
