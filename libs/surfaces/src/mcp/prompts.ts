import { type GetPromptResult, type Prompt, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type Scope, ServiceError, scopeIncludes } from '@workspace-graph/contracts';

interface PromptEntry {
  /** Of the tools that it leads to. */
  readonly scope: Scope;
  readonly prompt: Prompt;
  write(args: Readonly<Record<string, string>>): string;
}

const PROMPTS: readonly PromptEntry[] = [
  {
    scope: 'read',
    prompt: {
      name: 'orient',
      title: 'Get oriented',
      description: 'Read a node with its surroundings and summarize its state.',
      arguments: [{ name: 'node_id', description: 'The node; defaults to the home node of the connection.' }],
    },
    write: ({ node_id }) =>
      `Read ${node_id ? `the node ${node_id}` : 'the home node'} with svc_get_context at depth 1. ` +
      'Summarize in a few sentences its purpose, who is responsible for what, recent decisions, and what is blocked or at risk. Name the nodes that you rely on.',
  },
  {
    scope: 'write',
    prompt: {
      name: 'log_decision',
      title: 'Log a decision',
      description:
        'Record a decision on the timeline of a node, after checking that it does not replace an earlier one.',
      arguments: [
        { name: 'node_id', description: 'The node that the decision is about.', required: true },
        { name: 'decision', description: 'What was decided, and why.', required: true },
      ],
    },
    write: ({ node_id, decision }) =>
      `A decision was made about the node ${node_id}: ${decision}\n\n` +
      'Look through the decisions on its timeline with svc_list_events. If the decision replaces one of them, supersede it with svc_supersede_event; otherwise record a new one with svc_log. Include the reason in the text.',
  },
];

/** Those that a credential of this scope can follow. */
export function listPrompts(scope: Scope): Prompt[] {
  return PROMPTS.filter((entry) => scopeIncludes(scope, entry.scope)).map((entry) => entry.prompt);
}

export function findPrompt(name: string): Prompt | undefined {
  return PROMPTS.find((entry) => entry.prompt.name === name)?.prompt;
}

/**
 * @throws ProtocolError InvalidParams for an unknown prompt or a missing argument; ServiceError FORBIDDEN for one that leads
 * to tools beyond the scope
 */
export function getPrompt(name: string, args: Readonly<Record<string, string>>, scope: Scope): GetPromptResult {
  const entry = PROMPTS.find((candidate) => candidate.prompt.name === name);
  if (!entry) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown prompt: ${name}. prompts/list returns all prompts.`,
    );
  }
  if (!scopeIncludes(scope, entry.scope))
    throw new ServiceError('FORBIDDEN', `The prompt ${name} needs the scope ${entry.scope}.`, {
      required_scope: entry.scope,
    });
  for (const argument of entry.prompt.arguments ?? []) {
    if (argument.required && !args[argument.name]) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Prompt ${name} needs the argument ${argument.name}`);
    }
  }
  return {
    description: entry.prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: entry.write(args) } }],
  };
}
