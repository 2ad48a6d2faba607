import type { SuspendReason } from '@workspace-graph/contracts';

/** What a log says of a session whose agent has left no handoff. */
export interface HandoffFacts {
  readonly name: string;
  readonly reason: SuspendReason | null;
  readonly brief: string | null;
  readonly lastUserMessage: string | null;
  readonly lastAssistantMessage: string | null;
  readonly openQuestions: readonly string[];
  /** Paths that the run changed, the last ones first. */
  readonly changedFiles: readonly string[];
}

const REASONS: Readonly<Record<SuspendReason, string>> = {
  disconnect: 'the connection of the agent was lost',
  idle: 'nothing happened for the idle time',
  terminal_exit: 'the terminal of the agent ended',
  server_restart: 'the service restarted',
  agent_missed_handoff: 'the agent did not write a handoff in time',
  user: 'somebody suspended it',
};

const MOST_FILES = 20;
const EXCERPT = 2_000;

/** The handoff that the server writes in the place of the agent: what the log knows, and nothing else. */
export function minimalHandoff(facts: HandoffFacts): { readonly title: string; readonly text: string } {
  const { brief, lastUserMessage, lastAssistantMessage, openQuestions, changedFiles, reason } = facts;
  const files = changedFiles.slice(0, MOST_FILES).map((path) => `- ${path}`);
  const more = changedFiles.length - files.length;
  const parts = [
    `Written by the server: ${reason ? REASONS[reason] : 'the run ended'}.`,
    section('Task', brief),
    section('Last message to the agent', lastUserMessage),
    section('Last message of the agent', lastAssistantMessage),
    section('Open questions', openQuestions.map((title) => `- ${title}`).join('\n')),
    section('Files changed', [...files, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')),
  ];
  return { title: facts.name, text: parts.filter((part) => part !== '').join('\n\n') };
}

function section(title: string, text: string | null): string {
  if (!text) return '';
  const excerpt = text.length > EXCERPT ? `${text.slice(0, EXCERPT).toWellFormed()} …` : text;
  return `${title}:\n${excerpt}`;
}
