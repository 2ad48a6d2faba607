import type { SessionActor, SessionEvent, SessionEventKind, SessionEventPayload } from '@workspace-graph/contracts';

type Say<K extends SessionEventKind> = (payload: SessionEventPayload<K>) => string;

/** How each kind of event reads in Markdown. At the margin stands what we say alone: what others wrote passes for no event. */
const TEXTS: { readonly [K in SessionEventKind]: Say<K> } = {
  user_message: ({ text }) => said('**User:**', text),
  assistant_message: ({ text }) => said('**Agent:**', text),
  reasoning: ({ text }) => said('**Reasoning:**', text),
  tool_call: ({ phase, title, input_summary, output_excerpt }) =>
    [
      `- Tool ${phase}: ${markdownLine(title)}`,
      ...(input_summary ? [fenced(input_summary)] : []),
      ...(output_excerpt ? [fenced(output_excerpt)] : []),
    ].join('\n'),
  file_change: ({ path, change }) => `- File ${change}: ${code(path)}`,
  compaction: ({ summary }) =>
    summary ? said('- The conversation was compacted:', summary) : '- The conversation was compacted.',
  question: ({ title, text, options = [] }) =>
    [
      `**Question:** ${markdownLine(title)}`,
      ...(text ? [quoted(text)] : []),
      ...options.map(({ label }) => `- Option: ${markdownLine(label)}`),
    ].join('\n\n'),
  answer: ({ decision, by }) => said(`**Answer** (${nameOf(by)}):`, decisionText(decision)),
  handoff: ({ title, text, written_by }) =>
    `## Handoff: ${markdownLine(title)}\n\n${quoted(text)}\n\n(written by the ${written_by})`,
  state_changed: ({ from, to, reason, by }) =>
    `- State: ${from} → ${to}${reason ? `, ${reason.replaceAll('_', ' ')}` : ''} (${nameOf(by)})`,
  run_started: ({ runner, mode }) => `- Run started: ${markdownLine(runner)}, ${mode}`,
  run_ended: ({ outcome, error }) => `- Run ended: ${outcome}${error ? `, ${markdownLine(error)}` : ''}`,
  scope_changed: ({ node_ids, access, added_via, reason }) => {
    const nodes = node_ids.length === 1 ? '1 node' : `${node_ids.length} nodes`;
    const change = access === null ? `${nodes} taken out` : `${nodes} for ${access} (${added_via})`;
    return `- Scope: ${change}${reason === undefined ? '' : `: ${markdownLine(reason)}`}`;
  },
};

const LINE_END = /\r\n|[\n\r\u2028\u2029]/;

/** An event of a session as a paragraph of Markdown. */
export function sessionEventText(event: SessionEvent): string {
  const say = TEXTS[event.kind] as Say<typeof event.kind>;
  return say(event.payload);
}

/** What somebody wrote as a part of one line of Markdown. */
export function markdownLine(text: string): string {
  return withoutTags(linesOf(text).join(' '));
}

function nameOf({ role, name }: SessionActor): string {
  return markdownLine(name ?? role);
}

function decisionText(decision: SessionEventPayload<'answer'>['decision']): string {
  if (decision === null) return 'none';
  return 'text' in decision ? decision.text : decision.option_id;
}

/** Who says it, and what: beside it when it is a line, else below it. */
function said(who: string, text: string): string {
  return linesOf(text).length === 1 ? `${who} ${markdownLine(text)}` : `${who}\n\n${quoted(text)}`;
}

/** Markdown stays what it is in a quotation, and stays in it. */
function quoted(text: string): string {
  return setIn('>', linesOf(withoutTags(text)));
}

/** Within the item of a list, in a fence longer than any in the text. */
function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestTicks(text) + 1));
  return setIn(' ', [fence, ...linesOf(text), fence]);
}

function code(text: string): string {
  const ticks = '`'.repeat(longestTicks(text) + 1);
  const line = linesOf(text).join(' ');
  return ticks === '`' ? `\`${line}\`` : `${ticks} ${line} ${ticks}`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

function setIn(margin: string, lines: readonly string[]): string {
  return lines.map((line) => (line === '' ? margin.trim() : `${margin} ${line}`)).join('\n');
}

function linesOf(text: string): string[] {
  return text.trimEnd().split(LINE_END);
}

/** HTML would end a quotation: what begins a tag is escaped, unless it is already. */
function withoutTags(text: string): string {
  return text.replace(/(\\*)<(?=[a-z/!?])/gi, (whole, escapes: string) =>
    escapes.length % 2 === 0 ? `${escapes}\\<` : whole,
  );
}
