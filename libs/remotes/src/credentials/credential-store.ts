/** What a remote is opened with, by the fields that its type declares. */
export type RemoteCredentials = Readonly<Record<string, string>>;

/**
 * Keeps credentials of remotes outside of the database, under ids that the database knows. What is written once is never
 * changed: other credentials are written under another id.
 */
export interface CredentialStore {
  /** Null where there are none under the id. @throws CredentialsUnreadable */
  read(id: string): Promise<RemoteCredentials | null>;
  /** When it answers, they are there to stay. @throws CredentialsUnreadable for a store that only reads */
  write(id: string, credentials: RemoteCredentials): Promise<void>;
  /** Those that are not there are no error. */
  remove(id: string): Promise<void>;
  /**
   * Those that somebody else gives to a remote, by its name; none of them is empty. A store that has this is only read: it has
   * nothing under any id. @throws CredentialsUnreadable
   */
  given?(remote: string): Promise<RemoteCredentials>;
  /** Ids under which there are some, with the time at which they were written. */
  list(): Promise<readonly { readonly id: string; readonly writtenAtMs: number }[]>;
}

/** The refusal of credentials for a store that is only read. */
export function onlyRead(): CredentialsUnreadable {
  return new CredentialsUnreadable(
    'Credentials come from the .env.schema of varlock here, which is only read: set them there, and leave them out.',
  );
}

/** Credentials that are there and cannot be used; the message never tells any of them. */
export class CredentialsUnreadable extends Error {
  constructor(
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(problem, options);
    this.name = 'CredentialsUnreadable';
  }
}
