import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  type ContentBlock,
  fromJsonSchema,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { elicitForm, PIXEL_PNG, SILENCE_WAV, said } from './fixture-values.js';

const IMAGE: ContentBlock = { type: 'image', data: PIXEL_PNG, mimeType: 'image/png' };
const NO_ARGUMENTS = z.object({});

/** Contents that the suite's scenarios expect of tools without arguments. */
const FIXED: Readonly<Record<string, ContentBlock[]>> = {
  test_simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  test_image_content: [IMAGE],
  test_audio_content: [{ type: 'audio', data: SILENCE_WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: [
    {
      type: 'resource',
      resource: {
        uri: 'test://embedded-resource',
        mimeType: 'text/plain',
        text: 'This is an embedded resource content.',
      },
    },
  ],
  test_multiple_content_types: [
    { type: 'text', text: 'Multiple content types test:' },
    IMAGE,
    {
      type: 'resource',
      resource: {
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        text: '{"test":"data","value":123}',
      },
    },
  ],
};

/** Tools under the names that the conformance suite calls. */
export function registerTools(server: McpServer, onToolsChanged: () => void): void {
  for (const [name, content] of Object.entries(FIXED)) register(server, name, () => ({ content }));
  register(server, 'test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  register(server, 'test_tool_with_logging', withLogging);
  register(server, 'test_logging_tool', withLogging);
  register(server, 'test_tool_with_progress', withProgress);
  register(server, 'test_trigger_tool_change', () => {
    onToolsChanged();
    return said('done');
  });
  registerAsking(server);
  registerSchemas(server);
}

type Work = (ctx: ServerContext) => CallToolResult | Promise<CallToolResult>;

function register(server: McpServer, name: string, work: Work): void {
  server.registerTool(name, { description: `Fixture ${name}.`, inputSchema: NO_ARGUMENTS }, (_args, ctx) => work(ctx));
}

async function withLogging({ mcpReq }: ServerContext): Promise<CallToolResult> {
  for (const text of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await mcpReq.log('info', text);
    await sleep(50);
  }
  return said('logged');
}

async function withProgress({ mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    }
    await sleep(50);
  }
  return said('progressed');
}

/** Tools of the handshake protocols that ask the client something while they run. */
function registerAsking(server: McpServer): void {
  const asking = { description: 'Fixture that asks the client.' };
  server.registerTool(
    'test_sampling',
    { ...asking, inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }];
      const { content } = await ctx.mcpReq.requestSampling({ messages, maxTokens: 100 });
      return said(`LLM response: ${JSON.stringify(content)}`);
    },
  );
  const ask = async (
    ctx: ServerContext,
    message: string,
    properties: Record<string, unknown>,
    required: string[] = [],
  ) => {
    const { action, content } = await ctx.mcpReq.elicitInput(elicitForm(message, properties, required));
    return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
  };
  server.registerTool(
    'test_elicitation',
    { ...asking, inputSchema: z.object({ message: z.string() }) },
    ({ message }, ctx) =>
      ask(ctx, message, { username: { type: 'string', description: "User's response" }, email: { type: 'string' } }, [
        'username',
        'email',
      ]),
  );
  register(server, 'test_elicitation_sep1034_defaults', (ctx) => ask(ctx, 'Check the defaults', DEFAULTS));
  register(server, 'test_elicitation_sep1330_enums', (ctx) => ask(ctx, 'Choose', ENUMS));
}

const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

const titled = (...names: string[]) => names.map((name, index) => ({ const: `value${index + 1}`, title: name }));
const ENUMS = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
};

/** Tools whose schemas say more than zod does. */
function registerSchemas(server: McpServer): void {
  const echo = (args: unknown) => said(JSON.stringify(args));
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Fixture with a rich schema.', inputSchema: fromJsonSchema(RICH_SCHEMA) },
    echo,
  );
  const region = { type: 'string' as const, 'x-mcp-header': 'Region' };
  const inputSchema = fromJsonSchema({ type: 'object', properties: { region, query: { type: 'string' } } });
  server.registerTool(
    'test_custom_headers',
    { description: 'Fixture with a parameter that travels in a header.', inputSchema },
    echo,
  );
}

const RICH_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: { address: { $anchor: 'place', type: 'object', properties: { town: { type: 'string' } } } },
  properties: {
    kind: { type: 'string', enum: ['visit', 'call'] },
    at: { $ref: '#/$defs/address' },
    number: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['at'] }, { required: ['number'] }] }],
  if: { properties: { kind: { const: 'visit' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['at'] },
  else: { required: ['number'] },
  additionalProperties: false,
};
