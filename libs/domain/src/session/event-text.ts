import type { SessionActor, SessionEvent, SessionEventKind, SessionEventPayload } from '@workspace-graph/contracts';

type Say<K extends SessionEventKind> = (payload: SessionEventPayload<K>) => string;

/** How each kind of event reads in Markdown. */
const TEXTS: { readonly [K in SessionEventKind]: Say<K> } = {
  user_message: ({ text }) => `**User:** ${text}`,
  assistant_message: ({ text }) => `**Agent:** ${text}`,
  reasoning: ({ text }) => quoted(text),
  tool_call: ({ phase, title, input_summary, output_excerpt }) =>
    [
      `- Tool ${phase}: ${title}`,
      ...(input_summary ? [fenced(input_summary)] : []),
      ...(output_excerpt ? [fenced(output_excerpt)] : []),
    ].join('\n'),
  file_change: ({ path, change }) => `- File ${change}: \`${path}\``,
  compaction: ({ summary }) => `- The conversation was compacted${summary ? `: ${summary}` : '.'}`,
  question: ({ title, text, options = [] }) =>
    [`**Question:** ${title}`, ...(text ? [text] : []), ...options.map(({ label }) => `- ${label}`)].join('\n\n'),
  answer: ({ decision, by }) => `**Answer** (${nameOf(by)}): ${decisionText(decision)}`,
  handoff: ({ title, text, written_by }) => `## Handoff: ${title}\n\n${text}\n\n(written by the ${written_by})`,
  state_changed: ({ from, to, reason, by }) =>
    `- State: ${from} → ${to}${reason ? `, ${reason.replaceAll('_', ' ')}` : ''} (${nameOf(by)})`,
  run_started: ({ runner, mode }) => `- Run started: ${runner}, ${mode}`,
  run_ended: ({ outcome, error }) => `- Run ended: ${outcome}${error ? `, ${error}` : ''}`,
  scope_changed: ({ node_ids, access, added_via, reason }) => {
    const nodes = node_ids.length === 1 ? '1 node' : `${node_ids.length} nodes`;
    const change = access === null ? `${nodes} taken out` : `${nodes} for ${access} (${added_via})`;
    return `- Scope: ${change}${reason === undefined ? '' : `: ${reason}`}`;
  },
};

/** An event of a session as a paragraph of Markdown. */
export function sessionEventText(event: SessionEvent): string {
  const say = TEXTS[event.kind] as Say<typeof event.kind>;
  return say(event.payload);
}

function nameOf({ role, name }: SessionActor): string {
  return name ?? role;
}

function decisionText(decision: SessionEventPayload<'answer'>['decision']): string {
  if (decision === null) return 'none';
  return 'text' in decision ? decision.text : decision.option_id;
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

/** A fence longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
