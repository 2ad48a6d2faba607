import { Command, type CommanderError } from 'commander';
import { VERSION } from '../version.js';
import { CliError } from './cli-error.js';
import { EXIT } from './codes.js';
import { agentCommands } from './commands/agent.js';
import { backupCommands } from './commands/backup.js';
import { completionCommand } from './commands/completion.js';
import { deviceCommands } from './commands/device.js';
import { doctorCommand } from './commands/doctor.js';
import { fileCommands } from './commands/files.js';
import { lifecycleCommands } from './commands/lifecycle.js';
import { membershipCommands } from './commands/membership.js';
import { mirrorCommands } from './commands/mirror.js';
import { remoteCommands } from './commands/remote.js';
import { sessionCommands } from './commands/sessions.js';
import { tokenCommands } from './commands/token.js';
import { transferCommands } from './commands/transfer.js';
import { trashCommands } from './commands/trash.js';
import { watchCommand } from './commands/watch.js';
import { isClosedPipe, Output } from './output.js';

/** The `svc` command with everything it can do. */
export function createProgram(): Command {
  const program = new Command('svc')
    .description('Workspace Graph: one graph of your organisation that people and agents share')
    .version(VERSION)
    .showHelpAfterError('(svc --help lists all commands)')
    .configureHelp({ sortSubcommands: false });
  lifecycleCommands(program);
  membershipCommands(program);
  doctorCommand(program);
  mirrorCommands(program);
  agentCommands(program);
  fileCommands(program);
  trashCommands(program);
  watchCommand(program);
  tokenCommands(program);
  deviceCommands(program);
  remoteCommands(program);
  sessionCommands(program);
  transferCommands(program);
  backupCommands(program);
  completionCommand(program);
  return program;
}

/** Runs one command line; sets the exit code instead of ending the process. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  const asJson = wantsJson(argv);
  exitWithUsage(program, asJson);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!isCommanderError(error)) throw error;
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (asJson && error.exitCode !== 0) new Output(true).failure(wrongUsage(error));
  }
}

function isCommanderError(error: unknown): error is CommanderError {
  const { code } = error as Partial<CommanderError>;
  return typeof code === 'string' && code.startsWith('commander.');
}

/** Asked before the words are understood: those that are not understood are to be told as JSON too. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}

function wrongUsage(error: CommanderError): CliError {
  const said = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
  // A command that needs one of its subcommands answers with its help instead of a message.
  const message = error.code === 'commander.help' ? 'The command is incomplete.' : said;
  return new CliError('WRONG_USAGE', `${message.charAt(0).toUpperCase()}${message.slice(1)}`, {
    cause: error,
    hint: '`svc --help` lists all commands, `svc COMMAND --help` the arguments of one.',
  });
}

/** Called once by the process: unheard, a reader that left would look like a crash. */
export function hearOutputErrors(): void {
  process.stdout.on('error', reportBrokenOutput);
  // What cannot be told here can be told nowhere.
  process.stderr.on('error', () => undefined);
}

function reportBrokenOutput(error: Error): void {
  process.exitCode = EXIT.failed;
  if (!isClosedPipe(error)) process.stderr.write(`svc: the output cannot be written: ${error.message}\n`);
}

function exitWithUsage(command: Command, asJson: boolean): void {
  command.exitOverride();
  // The error object says it; help that was asked for goes to standard output.
  if (asJson) command.configureOutput({ writeErr: () => undefined });
  for (const child of command.commands) exitWithUsage(child, asJson);
}
