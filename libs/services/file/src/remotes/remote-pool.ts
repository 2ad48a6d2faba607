import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { type RemoteType, ServiceError } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import {
  type CredentialStore,
  CredentialsUnreadable,
  type Remote,
  type RemoteCredentials,
  RemoteFailure,
  readRootMarker,
} from '@workspace-graph/remotes';
import { readSettings } from './read-settings.js';
import { remoteRefused } from './refusals.js';
import { REMOTE_SETTINGS_ROW, type RemoteSettingsRow } from './remote.statements.js';
import { REMOTE_PARTS, type RemoteParts } from './remote-parts.js';

/** For which a storage that nobody uses stays open. */
const IDLE_MS = 60_000;

/** A storage that is held open for as long as the work with it lasts. */
export interface HeldRemote {
  readonly name: string;
  readonly remote: Remote;
  /**
   * Makes sure that the root is still that of this remote: before a change, and before an absence is told.
   * @throws ServiceError REMOTE_REFUSED; RemoteFailure
   */
  confirmRoot(): Promise<void>;
}

interface Kept {
  readonly row: RemoteSettingsRow;
  readonly opening: Promise<Remote>;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/** The storages of the organisation, each opened once and shared by all that work with it. */
@Injectable()
export class RemotePool implements BeforeApplicationShutdown {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly database: Database,
    @Inject(REMOTE_PARTS) private readonly parts: RemoteParts,
  ) {}

  /** Works with a storage as it is set up now. @throws ServiceError NO_REMOTE, REMOTE_REFUSED; RemoteFailure; what the work throws */
  async use<T>(name: string, work: (held: HeldRemote) => Promise<T>): Promise<T> {
    const row = await this.database.row<RemoteSettingsRow & Record<string, unknown>>(REMOTE_SETTINGS_ROW, [name]);
    if (!row) throw new ServiceError('NO_REMOTE', `The remote ${name} has been removed.`, { remote_name: name });
    const kept = this.keptFor(row);
    kept.users += 1;
    clearTimeout(kept.idle);
    try {
      const remote = await kept.opening;
      return await work({ name, remote, confirmRoot: () => confirmRoot(remote, row) });
    } catch (error) {
      // The next work opens it anew.
      if (error instanceof RemoteFailure && error.reason === 'unavailable') this.forget(kept);
      throw error;
    } finally {
      kept.users -= 1;
      if (kept.users === 0) this.rest(kept);
    }
  }

  /** After all that works with them. */
  async beforeApplicationShutdown(): Promise<void> {
    const idle = [...this.kept.values()].filter(({ users }) => users === 0);
    this.kept.clear();
    for (const kept of idle) clearTimeout(kept.idle);
    await Promise.all(idle.map(close));
  }

  private keptFor(row: RemoteSettingsRow): Kept {
    const known = this.kept.get(row.name);
    if (known?.row.version === row.version) return known;
    if (known) this.forget(known);
    const kept: Kept = { row, opening: openKnown(row, this.parts), users: 0, idle: undefined };
    kept.opening.catch(() => this.forget(kept));
    this.kept.set(row.name, kept);
    return kept;
  }

  private forget(kept: Kept): void {
    if (this.kept.get(kept.row.name) === kept) this.kept.delete(kept.row.name);
  }

  /** Nobody works with it any more. */
  private rest(kept: Kept): void {
    if (this.kept.get(kept.row.name) !== kept) return void close(kept);
    kept.idle = setTimeout(() => {
      this.forget(kept);
      void close(kept);
    }, IDLE_MS).unref();
  }
}

/**
 * Opens a remote that is set up, and makes sure that it is the one.
 * @throws RemoteFailure, CredentialsUnreadable; ServiceError REMOTE_REFUSED
 */
export async function openKnown(row: RemoteSettingsRow, { credentials: store, open }: RemoteParts): Promise<Remote> {
  const credentials = row.secret_id === null ? await givenTo(row.name, store) : await store.read(row.secret_id);
  if (credentials === null) throw new CredentialsUnreadable(`The token store has no credentials of ${row.name}.`);
  const remote = await open(readSettings({ type: row.type as RemoteType, config: row.config, credentials }));
  try {
    await confirmRoot(remote, row);
    return remote;
  } catch (error) {
    await remote[Symbol.asyncDispose]();
    throw error;
  }
}

/** What a remote has without any credentials kept for it. @throws CredentialsUnreadable */
async function givenTo(name: string, store: CredentialStore): Promise<RemoteCredentials> {
  return (await store.given?.(name)) ?? {};
}

async function confirmRoot(remote: Remote, row: RemoteSettingsRow): Promise<void> {
  const marker = await readRootMarker(remote).catch((error: unknown) => {
    if (error instanceof RemoteFailure && error.reason === 'exists') return null;
    throw error;
  });
  if (marker === row.root_marker) return;
  throw remoteRefused(
    row.name,
    'wrong_root',
    `The root of the storage has not the mark of the remote ${row.name}: it is another folder, or was emptied. Nothing was changed there.`,
  );
}

async function close({ opening }: Kept): Promise<void> {
  try {
    await using _remote = await opening;
  } catch {
    // One that was never open, or that cannot be ended properly, is ended all the same.
  }
}
