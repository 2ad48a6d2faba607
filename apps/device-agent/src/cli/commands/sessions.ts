import {
  answerQuestion,
  closeSession,
  getSession,
  LIMITS,
  listNodeSessions,
  listSessions,
  type Operation,
  ResumeMode,
  renameSession,
  resumeSession,
  type Session,
  suspendSession,
} from '@workspace-graph/contracts';
import type { Command } from 'commander';
import { Option } from 'commander';
import { CliError } from '../cli-error.js';
import { table } from '../output.js';
import { wholeNumber } from '../parse-options.js';
import { resolveNode } from '../resolve-node.js';
import { runs } from '../run-command.js';
import { printable } from '../text.js';
import { connect } from '../workspace-client.js';
import { exportCommand, followCommand } from './session-log.js';
import { scopeCommand } from './session-scope.js';
import { undoCommand } from './session-undo.js';

interface ListOptions {
  node?: string;
  own?: boolean;
  waiting?: boolean;
  archived?: boolean;
  limit: number;
}
interface AnswerOptions {
  option?: string;
  text?: string;
}

/** `svc sessions list|show|follow|answer|suspend|resume|close|rename|scope|undo|export` */
export function sessionCommands(program: Command): void {
  const sessions = program.command('sessions').description('show and drive the sessions of agents');
  listCommand(sessions);
  showCommand(sessions);
  followCommand(sessions);
  answerCommand(sessions);
  driveCommand(sessions, { name: 'suspend', words: 'suspend a running session', operation: suspendSession });
  resumeCommand(sessions);
  driveCommand(sessions, { name: 'close', words: 'close a session for good; its log stays', operation: closeSession });
  renameCommand(sessions);
  scopeCommand(sessions);
  undoCommand(sessions);
  exportCommand(sessions);
}

function listCommand(sessions: Command): void {
  runs<ListOptions>(
    sessions
      .command('list')
      .description('list sessions, the last active first')
      .option('--node <node>', 'only those of this node, by id, name or path')
      .option('--own', 'only your own')
      .option('--waiting', 'only those with an open question')
      .option('--archived', 'include archived ones')
      .option('--limit <number>', 'most sessions to list', wholeNumber, LIMITS.listDefault),
    async ({ out, options }) => {
      const client = await connect();
      const { own = false, waiting = false, archived, node, limit } = options;
      const state = archived ? { state: ['running', 'suspended', 'closed', 'archived'] as const } : {};
      const filters = { own, waiting, limit, ...state };
      const page =
        node === undefined
          ? await client.call(listSessions, filters)
          : await client.call(listNodeSessions, { node_id: await resolveNode(client, node), ...filters });
      out.result(page, table([['ID', 'STATE', 'NAME', 'AGENT', 'LAST ACTIVE'], ...page.items.map(sessionRow)]));
    },
  );
}

function showCommand(sessions: Command): void {
  runs(
    sessions
      .command('show')
      .description('show a session with its open questions')
      .argument('<id>', 'id of the session'),
    async ({ out, args: [id = ''] }) => {
      const session = await (await connect()).call(getSession, { session_id: id });
      out.result(session, describe(session));
    },
  );
}

function answerCommand(sessions: Command): void {
  runs<AnswerOptions>(
    sessions
      .command('answer')
      .description('answer an open question of a session of yours')
      .argument('<id>', 'id of the session')
      .argument('<question>', 'id of the question; `svc sessions show` lists them')
      .addOption(new Option('--option <id>', 'one of the options of an approval').conflicts('text'))
      .option('--text <text>', 'the text of an input'),
    async ({ out, args: [session_id = '', request_id = ''], options: { option, text } }) => {
      if (option === undefined && text === undefined)
        throw new CliError('WRONG_USAGE', 'Give the answer with --option or --text.', {});
      const decision = option === undefined ? { text: text ?? '' } : { option_id: option };
      const session = await (await connect()).call(answerQuestion, { session_id, request_id, decision });
      out.result(session, describe(session));
    },
  );
}

function driveCommand(
  sessions: Command,
  { name, words, operation }: { readonly name: string; readonly words: string; readonly operation: Operation },
): void {
  runs(
    sessions.command(name).description(words).argument('<id>', 'id of the session'),
    async ({ out, args: [session_id = ''] }) => {
      const session = (await (await connect()).call(operation, { session_id })) as Session;
      out.result(session, describe(session));
    },
  );
}

function resumeCommand(sessions: Command): void {
  runs<{ mode: ResumeMode }>(
    sessions
      .command('resume')
      .description('go on with a suspended session of yours')
      .argument('<id>', 'id of the session')
      .addOption(
        new Option('--mode <mode>', 'with its conversation, or afresh from its handoff')
          .choices(ResumeMode.options)
          .default('handoff' satisfies ResumeMode),
      ),
    async ({ out, args: [session_id = ''], options: { mode } }) => {
      const session = await (await connect()).call(resumeSession, { session_id, mode });
      out.result(session, describe(session));
    },
  );
}

function renameCommand(sessions: Command): void {
  runs(
    sessions
      .command('rename')
      .description('rename a session of yours')
      .argument('<id>', 'id of the session')
      .argument('<name>', 'the new name'),
    async ({ out, args: [session_id = '', name = ''] }) => {
      const session = await (await connect()).call(renameSession, { session_id, name });
      out.result(session, describe(session));
    },
  );
}

function sessionRow(session: Session): string[] {
  const { id, name, client, runner, last_activity_at } = session;
  return [id, stateOf(session), name, client?.name ?? runner ?? '', last_activity_at.slice(0, 16)];
}

function stateOf({ state, waiting_since }: Session): string {
  return waiting_since === null ? state : `${state}, waiting`;
}

function describe(session: Session): string[] {
  const { id, name, node, owner, suspended, handoff, open_questions, last_seq } = session;
  return [
    `${name} (${id})`,
    `State: ${stateOf(session)}${suspended?.reason ? `, ${suspended.reason.replaceAll('_', ' ')}` : ''}`,
    ...(node ? [`Node: ${node.name}`] : []),
    ...(owner ? [`Owner: ${owner.name}`] : []),
    `Events: ${last_seq}`,
    ...(handoff ? [`Handoff: ${printable(handoff.title)} (written by the ${handoff.written_by})`] : []),
    ...open_questions.map(({ request_id, title, options = [] }) => {
      const choice = options.map((option) => `${option.id} (${option.label})`).join(', ');
      return printable(`Question ${request_id}: ${title}${choice ? `: ${choice}` : ''}`);
    }),
  ];
}
