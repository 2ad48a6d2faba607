import { setTimeout as sleep } from 'node:timers/promises';
import { getSession, LIMITS, listSessionEvents, type Session, type SessionEvent } from '@workspace-graph/contracts';
import { sessionEventText } from '@workspace-graph/domain';
import { type Command, Option } from 'commander';
import type { Output } from '../output.js';
import { wholeNumber } from '../parse-options.js';
import { runs } from '../run-command.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';

const POLL_MS = 1_000;

/** `svc sessions follow` */
export function followCommand(sessions: Command): void {
  runs<{ after: number; untilIdle?: boolean }>(
    sessions
      .command('follow')
      .description('show the log of a session as it grows, until the session is closed; Ctrl-C stops it')
      .argument('<id>', 'id of the session')
      .option('--after <seq>', 'only events after this one', wholeNumber, 0)
      .option('--until-idle', 'exit when no run is under way'),
    async ({ out, args: [id = ''], options: { after, untilIdle = false } }) => {
      const client = await connect();
      let seen = after;
      for (;;) {
        const session = await client.call(getSession, { session_id: id });
        for await (const event of eventsOf(client, id, seen)) {
          await print(out, event);
          seen = event.seq;
        }
        const isOver = session.state === 'closed' || session.state === 'archived' || (untilIdle && !session.is_live);
        if (isOver && seen >= session.last_seq) return;
        await sleep(POLL_MS);
      }
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
      await write(asJson ? JSON.stringify({ session }) : headOf(session));
      for await (const event of eventsOf(client, id, 0))
        await write(asJson ? JSON.stringify(event) : `${sessionEventText(event)}\n`);
    },
  );
}

/** The log after a seq, page by page: never all of it at once. */
async function* eventsOf(client: WorkspaceClient, session_id: string, after: number): AsyncGenerator<SessionEvent> {
  for (let last = after; ; ) {
    const page = await client.call(listSessionEvents, { session_id, after: last, limit: LIMITS.sessionEventsMax });
    yield* page.items as unknown as SessionEvent[];
    last = page.items.at(-1)?.seq ?? page.last_seq;
    if (last >= page.last_seq) return;
  }
}

function print(out: Output, event: SessionEvent): Promise<void> {
  return write(out.json ? JSON.stringify(event) : `${event.at} ${sessionEventText(event)}`);
}

function headOf({ name, state, node, client, created_at }: Session): string {
  const facts = [
    `state ${state}`,
    `started ${created_at}`,
    ...(node ? [`node ${node.name}`] : []),
    ...(client ? [`agent ${client.name}`] : []),
  ];
  return `# ${name}\n\n${facts.join(', ')}\n`;
}

/** Resolves when its reader has taken it. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) =>
    process.stdout.write(`${text}\n`, (error) => (error ? reject(error) : resolve())),
  );
}
