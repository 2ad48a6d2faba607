import { completable, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { registerInput, requestState } from './fixture-input.js';
import { registerTools } from './fixture-tools.js';
import { PIXEL_PNG } from './fixture-values.js';

/** Hears what a fixture changes, for the streams that wait for it. */
export interface FixtureChanges {
  toolsChanged(): void;
  promptsChanged(): void;
}

/** A protocol server with the tools, resources and prompts that the conformance suite expects under fixed names. */
export function createFixtureServer(changes: FixtureChanges): McpServer {
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true },
      },
      requestState: { verify: requestState.verify },
    },
  );
  registerTools(server, () => changes.toolsChanged());
  server.registerTool('test_trigger_prompt_change', { description: 'Fixture.', inputSchema: z.object({}) }, () => {
    changes.promptsChanged();
    return { content: [] };
  });
  registerResources(server);
  registerPrompts(server);
  registerInput(server);
  return server;
}

function registerResources(server: McpServer): void {
  const text = 'This is the content of the static text resource.';
  const plain = { description: 'Fixture.', mimeType: 'text/plain' };
  server.registerResource('static-text', 'test://static-text', plain, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text }],
  }));
  const image = { description: 'Fixture.', mimeType: 'image/png' };
  server.registerResource('static-binary', 'test://static-binary', image, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PIXEL_PNG }],
  }));
  server.registerResource('watched-resource', 'test://watched-resource', plain, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'Watched.' }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource(
    'template',
    template,
    { description: 'Fixture.', mimeType: 'application/json' },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function registerPrompts(server: McpServer): void {
  const says = (text: string) => ({ role: 'user' as const, content: { type: 'text' as const, text } });
  server.registerPrompt('test_simple_prompt', { description: 'Fixture.' }, () => ({
    messages: [says('This is a simple prompt for testing.')],
  }));
  const arg1 = completable(z.string(), (value) => ['paris', 'park', 'party'].filter((word) => word.startsWith(value)));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Fixture.', argsSchema: z.object({ arg1, arg2: z.string() }) },
    (args) => ({ messages: [says(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Fixture.', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => {
      const resource = { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' };
      const embedded = { role: 'user' as const, content: { type: 'resource' as const, resource } };
      return { messages: [embedded, says('Please process the embedded resource above.')] };
    },
  );
  server.registerPrompt('test_prompt_with_image', { description: 'Fixture.' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PIXEL_PNG, mimeType: 'image/png' } },
      says('Please analyze the image above.'),
    ],
  }));
}
