import type { ErrorCode } from '@workspace-graph/contracts';
import type { BackupErrorCode } from '@workspace-graph/database/backup';
import type { EmbeddedErrorCode } from '@workspace-graph/database/embedded';
import type { MigrationErrorCode } from '@workspace-graph/database/migrate';

/** Exit codes of the command. */
export const EXIT = { done: 0, failed: 1, usage: 2, notRunning: 3 } as const;

interface CodeDefinition {
  readonly exit: number;
  readonly meaning: string;
}

/** What the command itself refuses or fails at; docs/command.md shows it. What a workspace refuses has the workspace's code. */
export const CLI_CODES = {
  WRONG_USAGE: row(EXIT.usage, 'The words of the command are not understood.'),
  CONFIGURATION_INVALID: row(EXIT.usage, 'A variable of the environment has a value that cannot be used.'),
  NODE_UNKNOWN: row(EXIT.usage, 'No node has that id or name.'),
  NODE_AMBIGUOUS: row(EXIT.usage, 'Several nodes have that name.'),
  PATH_INVALID: row(EXIT.usage, 'No file of a node can have that path.'),
  WORKSPACE_NOT_RUNNING: row(EXIT.notRunning, 'No workspace runs for the folder.'),
  WORKSPACE_NOT_READY: row(EXIT.notRunning, 'The workspace starts or stops.'),
  WORKSPACE_UNREACHABLE: row(EXIT.notRunning, 'Nothing answers at the address.'),
  WORKSPACE_SILENT: row(EXIT.failed, 'The workspace runs and does not answer.'),
  ALREADY_RUNNING: row(EXIT.failed, 'The workspace runs, and the command needs it stopped.'),
  LOCAL_ONLY: row(EXIT.failed, 'The command works on the workspace of this machine, and SVC_URL names another one.'),
  NO_WORKSPACE: row(EXIT.failed, 'The folder holds no workspace.'),
  NO_CREDENTIAL: row(EXIT.failed, 'There is no credential, or it does not look like one.'),
  CREDENTIAL_REFUSED: row(EXIT.failed, 'The workspace does not accept the kept credential.'),
  ROTATION_UNDER_WAY: row(EXIT.failed, 'Another rotation of the credential is under way.'),
  ROTATION_NOT_COMPLETE: row(EXIT.failed, 'The new credential is stored, and the old one has not ended yet.'),
  CONFIRMATION_NEEDED: row(EXIT.failed, 'The command replaces what is there, and --yes was not given.'),
  NOT_YOUR_PROCESS: row(EXIT.failed, 'The workspace runs as another user, or in a container.'),
  START_FAILED: row(EXIT.failed, 'The workspace ended before it was ready.'),
  START_TIMED_OUT: row(EXIT.failed, 'The workspace was not ready in time.'),
  STOP_TIMED_OUT: row(EXIT.failed, 'The workspace did not end in time.'),
  PORT_TAKEN: row(EXIT.failed, 'Another program listens on the port.'),
  PORT_UNUSABLE: row(EXIT.failed, 'The port may not be used, or the address is none of this machine.'),
  FOLDER_UNUSABLE: row(EXIT.failed, 'The folder cannot be read or written.'),
  DISK_FULL: row(EXIT.failed, 'The disk of the workspace has too little room.'),
  DATABASE_UNREACHABLE: row(EXIT.failed, 'The database that SVC_DATABASE_URL names cannot be used.'),
  FILE_EXISTS: row(EXIT.failed, 'A file of that name is there already.'),
  FILE_UNREADABLE: row(EXIT.failed, 'The file cannot be read.'),
  FILE_UNWRITABLE: row(EXIT.failed, 'The file cannot be written.'),
  NO_BROWSER: row(EXIT.failed, 'No browser could be opened.'),
  UNEXPECTED_ANSWER: row(EXIT.failed, 'What answers is no workspace, or a broken one.'),
} as const satisfies Record<string, CodeDefinition>;

export type CliCode = keyof typeof CLI_CODES;
/** Every code that a command may end with. */
export type AnyCode = CliCode | ErrorCode | EmbeddedErrorCode | BackupErrorCode | MigrationErrorCode;

export function isCliCode(code: string): code is CliCode {
  return Object.hasOwn(CLI_CODES, code);
}

/** What helps with a refusal of the workspace at the command line, where its own words speak of requests. */
export const REMEDIES: Partial<Record<ErrorCode, string>> = {
  VALIDATION_FAILED: 'Correct what is named and run the command again.',
  FORBIDDEN: 'Use a credential that may do more (SVC_TOKEN), or ask for access to the node.',
  HOST_NOT_ALLOWED: 'Call the workspace by a name that its administrator has allowed (SVC_URL).',
  ROUTE_NOT_FOUND: 'This workspace does not offer that; `svc status` tells which one answers, and its version.',
  CONFLICT: 'Look at what is there now, and run the command again.',
  IN_USE: 'Remove the uses that are named, or name a replacement.',
  EDGE_EXISTS: 'They are connected already.',
  ORG_INVARIANT: 'Name exactly one organization.',
  LIFECYCLE_INVALID: 'Choose one of those that are named.',
  UPLOAD_NOT_FOUND: 'Start the import again.',
  UNSUPPORTED_MEDIA_TYPE: 'Choose a file of another kind.',
  PAYLOAD_TOO_LARGE: 'Choose something smaller; the limit is named.',
  RATE_LIMITED: 'Wait a moment, then run the command again.',
};

function row(exit: number, meaning: string): CodeDefinition {
  return { exit, meaning };
}
