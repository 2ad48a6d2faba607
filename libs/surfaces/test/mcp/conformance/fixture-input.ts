import {
  acceptedContent,
  type CallToolResult,
  createRequestStateCodec,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { elicitForm, said } from './fixture-values.js';

const KEY = 'a secret of the conformance fixture';

/** Signs what a tool has to remember between two rounds. */
export const requestState = createRequestStateCodec<{ readonly round: number }>({ key: KEY });

type Work = (ctx: ServerContext) => Promise<CallToolResult | InputRequiredResult>;

const askName = (message = 'What is your name?') =>
  inputRequired.elicit(elicitForm(message, { name: { type: 'string' } }));
const askSample = (text: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 });
const askOk = () => inputRequired.elicit(elicitForm('Please confirm', { ok: { type: 'boolean' } }));
const nameIn = (ctx: ServerContext, key: string) =>
  acceptedContent(ctx.mcpReq.inputResponses, key, z.object({ name: z.string() }))?.name;
const isAnswered = (ctx: ServerContext, key: string) =>
  inputResponse(ctx.mcpReq.inputResponses, key).kind !== 'missing';

/** Tools and a prompt of the newest protocol that answer with what they still need to know. */
export function registerInput(server: McpServer): void {
  for (const [name, work] of Object.entries(TOOLS)) {
    const tool = name.startsWith('test_') ? name : `test_input_required_result_${name}`;
    server.registerTool(tool, { description: `Fixture ${tool}.`, inputSchema: z.object({}) }, (_args, ctx) =>
      work(ctx),
    );
  }
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Fixture that needs a context.' },
    (ctx) => {
      const context = acceptedContent(
        ctx.mcpReq.inputResponses,
        'user_context',
        z.object({ context: z.string() }),
      )?.context;
      const form = elicitForm('What context should the prompt use?', { context: { type: 'string' } });
      if (context === undefined) return inputRequired({ inputRequests: { user_context: inputRequired.elicit(form) } });
      return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: context } }] };
    },
  );
}

const TOOLS: Readonly<Record<string, Work>> = {
  elicitation: async (ctx) => {
    const name = nameIn(ctx, 'user_name');
    return name === undefined ? inputRequired({ inputRequests: { user_name: askName() } }) : said(`Hello, ${name}!`);
  },
  sampling: async (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'capital_question');
    const inputRequests = { capital_question: askSample('What is the capital of France?') };
    return answer.kind === 'missing' ? inputRequired({ inputRequests }) : said(JSON.stringify(answer));
  },
  list_roots: async (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'client_roots');
    return answer.kind === 'missing'
      ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      : said(JSON.stringify(answer));
  },
  request_state: (ctx) => withState(ctx, { confirm: askOk() }, 'state-ok'),
  tampered_state: (ctx) => withState(ctx, { confirm: askOk() }, 'state-ok'),
  multiple_inputs: (ctx) =>
    withState(
      ctx,
      { user_name: askName(), greeting: askSample('Generate a greeting'), client_roots: inputRequired.listRoots() },
      'all answered',
    ),
  multi_round: async (ctx) => {
    const round = ctx.mcpReq.requestState<{ round: number }>()?.round ?? 0;
    if (round === 1 && isAnswered(ctx, 'step1')) {
      const step2 = inputRequired.elicit(
        elicitForm('Step 2: What is your favorite color?', { color: { type: 'string' } }),
      );
      return inputRequired({ inputRequests: { step2 }, requestState: await requestState.mint({ round: 2 }) });
    }
    if (round === 2 && isAnswered(ctx, 'step2')) return said('three rounds');
    const step1 = askName('Step 1: What is your name?');
    return inputRequired({ inputRequests: { step1 }, requestState: await requestState.mint({ round: 1 }) });
  },
  test_missing_capability: async () => inputRequired({ inputRequests: { greeting: askSample('Generate a greeting') } }),
  test_streaming_elicitation: async () => inputRequired({ inputRequests: { user_name: askName() } }),
  capabilities: async (ctx) => {
    const envelope: Readonly<Record<string, unknown>> = ctx.mcpReq.envelope ?? {};
    const declared = Object.keys(envelope['io.modelcontextprotocol/clientCapabilities'] ?? {});
    return inputRequired({
      inputRequests: {
        ...(declared.includes('elicitation') ? { user_name: askName() } : {}),
        ...(declared.includes('sampling') ? { greeting: askSample('Generate a greeting') } : {}),
      },
    });
  },
};

async function withState(
  ctx: ServerContext,
  inputRequests: InputRequests,
  done: string,
): Promise<CallToolResult | InputRequiredResult> {
  const state = ctx.mcpReq.requestState<{ round: number }>();
  const complete = state?.round === 1 && Object.keys(inputRequests).every((key) => isAnswered(ctx, key));
  return complete ? said(done) : inputRequired({ inputRequests, requestState: await requestState.mint({ round: 1 }) });
}
