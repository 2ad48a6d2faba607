import { join } from 'node:path';

/** Where a workspace keeps its own files. Everything of ours lies under `.svc`, beside the mirrors of the nodes. */
export interface WorkspacePaths {
  readonly root: string;
  readonly own: string;
  /** Data folder of the embedded database. */
  readonly database: string;
  readonly backups: string;
  /** Address of the database while the workspace runs, mode 0600. */
  readonly databaseUrl: string;
  /** Credential of this user for this workspace, mode 0600. */
  readonly token: string;
  /** Held by the one command that replaces that credential. */
  readonly rotation: string;
  /** Which databases a restore under way, or one that was cut off, has made. */
  readonly restore: string;
  /** Who serves this workspace right now: WorkspaceState as JSON. */
  readonly state: string;
  /** Which central workspace the folder belongs to; absent in a local workspace. */
  readonly joined: string;
  /** Token of this device at the central workspace, mode 0600. */
  readonly deviceToken: string;
  /** Hashes of the credentials that work at this workstation of a central workspace alone. */
  readonly localCredentials: string;
  /** What a start in the background answered: its state, or the error object. */
  readonly startResult: string;
  /** Output of a workspace that runs in the background. */
  readonly log: string;
}

export function workspacePaths(root: string): WorkspacePaths {
  const own = join(root, '.svc');
  return {
    root,
    own,
    database: join(own, 'postgres'),
    backups: join(own, 'backups'),
    databaseUrl: join(own, 'database-url'),
    token: join(own, 'token'),
    rotation: join(own, 'rotation'),
    restore: join(own, 'restore.json'),
    state: join(own, 'workspace.json'),
    joined: join(own, 'joined.json'),
    deviceToken: join(own, 'device-token'),
    localCredentials: join(own, 'credentials.json'),
    startResult: join(own, 'start.json'),
    log: join(own, 'workspace.log'),
  };
}
