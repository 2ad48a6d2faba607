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
  WRONG_USAGE: row(EXIT.usage, 'The command, or one of its arguments, is not valid.'),
  CONFIGURATION_INVALID: row(EXIT.usage, 'An environment variable has an invalid value.'),
  NODE_UNKNOWN: row(EXIT.usage, 'No node has this id, name or path.'),
  NODE_AMBIGUOUS: row(EXIT.usage, 'Several nodes have this name.'),
  PATH_INVALID: row(EXIT.usage, 'The path is not valid for a file of a node.'),
  WORKSPACE_NOT_RUNNING: row(EXIT.notRunning, 'No workspace is running for the folder.'),
  WORKSPACE_NOT_READY: row(EXIT.notRunning, 'The workspace is starting or stopping.'),
  WORKSPACE_UNREACHABLE: row(EXIT.notRunning, 'Nothing answers at the address.'),
  WORKSPACE_SILENT: row(EXIT.failed, 'The workspace is running but does not answer.'),
  ALREADY_RUNNING: row(EXIT.failed, 'The workspace is running, and the command needs it to be stopped.'),
  LOCAL_ONLY: row(
    EXIT.failed,
    'The command works only on the workspace of this machine, and SVC_URL names another one.',
  ),
  NO_WORKSPACE: row(EXIT.failed, 'The folder contains no workspace.'),
  MEMBERSHIP_DAMAGED: row(
    EXIT.failed,
    'The files are damaged that tell which central workspace the folder belongs to.',
  ),
  KEYCHAIN_UNAVAILABLE: row(EXIT.failed, 'The keychain of the user does not answer, or is locked.'),
  ALREADY_JOINED: row(EXIT.failed, 'The folder belongs to a central workspace already.'),
  NOT_JOINED: row(EXIT.failed, 'The folder belongs to no central workspace.'),
  NOT_EMPTY: row(EXIT.failed, 'The folder holds a local workspace, which cannot join another one.'),
  NO_CREDENTIAL: row(EXIT.failed, 'The credential is missing or malformed.'),
  CREDENTIAL_REFUSED: row(EXIT.failed, 'The workspace does not accept the stored credential.'),
  ROTATION_UNDER_WAY: row(EXIT.failed, 'Another rotation of the credential is running.'),
  ROTATION_NOT_COMPLETE: row(EXIT.failed, 'The new credential is stored, but the old one has not ended yet.'),
  CONFIRMATION_NEEDED: row(EXIT.failed, 'The command replaces existing data, and --yes was not given.'),
  NOT_YOUR_PROCESS: row(EXIT.failed, 'The workspace runs as another user, or in a container.'),
  START_FAILED: row(EXIT.failed, 'The workspace ended before it was ready.'),
  START_TIMED_OUT: row(EXIT.failed, 'The workspace was not ready in time.'),
  STOP_TIMED_OUT: row(EXIT.failed, 'The workspace did not end in time.'),
  PORT_TAKEN: row(EXIT.failed, 'Another program listens on the port.'),
  PORT_UNUSABLE: row(EXIT.failed, 'You may not use the port, or the address does not belong to this machine.'),
  FOLDER_UNUSABLE: row(EXIT.failed, 'The folder cannot be read or written.'),
  REGISTRY_UNUSABLE: row(
    EXIT.failed,
    'The registry of the device, sync.db, is damaged, or was written by a newer version.',
  ),
  DISK_FULL: row(EXIT.failed, 'The disk of the workspace has too little free space.'),
  DATABASE_UNREACHABLE: row(EXIT.failed, 'The database that SVC_DATABASE_URL names cannot be used.'),
  FILE_EXISTS: row(EXIT.failed, 'A file with this name already exists.'),
  FILE_UNREADABLE: row(EXIT.failed, 'The file cannot be read.'),
  FILE_UNWRITABLE: row(EXIT.failed, 'The file cannot be written.'),
  NO_BROWSER: row(EXIT.failed, 'No browser could be opened.'),
  UNEXPECTED_ANSWER: row(EXIT.failed, 'The answer does not come from a workspace, or the workspace is broken.'),
} as const satisfies Record<string, CodeDefinition>;

export type CliCode = keyof typeof CLI_CODES;
/** Every code that a command may end with. */
export type AnyCode = CliCode | ErrorCode | EmbeddedErrorCode | BackupErrorCode | MigrationErrorCode;

export function isCliCode(code: string): code is CliCode {
  return Object.hasOwn(CLI_CODES, code);
}

/** What helps with a refusal of the workspace at the command line, where its own words speak of requests. */
export const REMEDIES: Partial<Record<ErrorCode, string>> = {
  VALIDATION_FAILED: 'Correct the named values and run the command again.',
  FORBIDDEN: 'Use a credential with a higher scope (SVC_TOKEN), or request access to the node.',
  HOST_NOT_ALLOWED: 'Call the workspace by a host name that its administrator has allowed (SVC_URL).',
  ROUTE_NOT_FOUND:
    'This workspace does not support the command; `svc status` shows which workspace answers, and its version.',
  CONFLICT: 'Check the current state, then run the command again.',
  IN_USE: 'Remove the listed uses, or name a replacement.',
  EDGE_EXISTS: 'The nodes are already connected.',
  ORG_INVARIANT: 'Name exactly one organization.',
  LIFECYCLE_INVALID: 'Choose one of the listed values.',
  UPLOAD_NOT_FOUND: 'Start the import again.',
  UNSUPPORTED_MEDIA_TYPE: 'Choose a file of another kind.',
  PAYLOAD_TOO_LARGE: 'Send less; the message shows the limit.',
  RATE_LIMITED: 'Wait a moment, then run the command again.',
};

function row(exit: number, meaning: string): CodeDefinition {
  return { exit, meaning };
}
