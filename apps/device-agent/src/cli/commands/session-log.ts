import { getSession, LIMITS, listSessionEvents, type Session, type SessionEvent } from '@workspace-graph/contracts';
import { markdownLine, sessionEventText } from '@workspace-graph/domain';
import { type Command, Option } from 'commander';
import { writeOut } from '../output.js';
import { wholeNumber } from '../parse-options.js';
import { runs } from '../run-command.js';
import { SessionFollower } from '../session-follower.js';
import { jsonText, legible, printable } from '../text.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';

/** `svc sessions follow` */
export function followCommand(sessions: Command): void {
  runs<{ after: number; untilIdle?: boolean }>(
    sessions
      .command('follow')
      .description('show the log of a session as it grows, until the session is closed; Ctrl-C stops it')
      .argument('<id>', 'id of the session')
      .option('--after <seq>', 'only events after this one', wholeNumber, 0)
      .option('--until-idle', 'exit when no run is under way'),
    async ({ out, args: [sessionId = ''], options: { after, untilIdle = false } }) => {
      const onLost = (): void => out.note('svc: the connection was lost; connecting again');
      const follower = new SessionFollower({ sessionId, after, untilIdle, connect, onLost });
      for await (const event of follower.events()) await write(out.json ? jsonText(event) : lineOf(event));
    },
  );
}

/** `svc sessions export` */
export function exportCommand(sessions: Command): void {
  runs<{ format: 'markdown' | 'json' }>(
    sessions
      .command('export')
      .description('print a session with its whole log')
      .argument('<id>', 'id of the session')
      .addOption(
        new Option('--format <format>', 'Markdown, or JSON with one event on each line')
          .choices(['markdown', 'json'])
          .default('markdown'),
      ),
    async ({ out, args: [id = ''], options: { format } }) => {
      const client = await connect();
      const session = await client.call(getSession, { session_id: id });
      const asJson = out.json || format === 'json';
      await write(asJson ? jsonText({ session }) : headOf(session));
      for await (const event of eventsOf(client, id))
        await write(asJson ? jsonText(event) : `${legible(sessionEventText(event))}\n`);
    },
  );
}

/** The log, page by page: never all of it at once. */
async function* eventsOf(client: WorkspaceClient, session_id: string): AsyncGenerator<SessionEvent> {
  for (let last = 0; ; ) {
    const page = await client.call(listSessionEvents, { session_id, after: last, limit: LIMITS.sessionEventsMax });
    yield* page.items as unknown as SessionEvent[];
    last = page.items.at(-1)?.seq ?? page.last_seq;
    if (last >= page.last_seq) return;
  }
}

function headOf({ name, state, node, client, created_at }: Session): string {
  const facts = [
    `state ${state}`,
    `started ${created_at}`,
    ...(node ? [`node ${node.name}`] : []),
    ...(client ? [`agent ${client.name}`] : []),
  ];
  return [`# ${name}`, '', facts.join(', '), ''].map((line) => printable(markdownLine(line))).join('\n');
}

/** What an event says in further lines is set in, so that none of them passes for another event. */
function lineOf(event: SessionEvent): string {
  return `${event.at} ${legible(sessionEventText(event)).replaceAll(/\n(?=.)/g, '\n  ')}`;
}

function write(text: string): Promise<void> {
  return writeOut(`${text}\n`);
}
