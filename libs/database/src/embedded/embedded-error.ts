/**
 * - `IN_USE`: another running workspace holds the folder.
 * - `FOLDER_UNUSABLE`: the folder cannot be made, written or entered by the user that needs it.
 * - `DISK_FULL`: no room to create, start or recover the database.
 * - `PORT_TAKEN`: another program listens on the port asked for.
 * - `INCOMPATIBLE_DATA`: the folder was written by another major version of PostgreSQL.
 * - `DATA_MISSING`: the folder says where its data is, and it is not there.
 * - `DATA_DAMAGED`: the server cannot read what it wrote.
 * - `BINARIES_MISSING`: there are no PostgreSQL binaries for this platform.
 * - `BINARIES_UNUSABLE`: the binaries do not run on this system.
 * - `SYSTEM_LIMIT`: memory, file handles or processes are exhausted.
 * - `SERVER_ENDED`: the running server ended and was not asked to; `log` has its last words.
 * - `START_FAILED`: anything else; `log` has the server's own words.
 */
export type EmbeddedErrorCode =
  | 'IN_USE'
  | 'FOLDER_UNUSABLE'
  | 'DISK_FULL'
  | 'PORT_TAKEN'
  | 'INCOMPATIBLE_DATA'
  | 'DATA_MISSING'
  | 'DATA_DAMAGED'
  | 'BINARIES_MISSING'
  | 'BINARIES_UNUSABLE'
  | 'SYSTEM_LIMIT'
  | 'SERVER_ENDED'
  | 'START_FAILED';

interface EmbeddedErrorOptions extends ErrorOptions {
  /** What a person can do about it. */
  readonly advice?: string;
  /** The last lines that the server or initdb wrote. */
  readonly log?: string;
}

/** The embedded database cannot start: `message` says what is wrong, `advice` what to do about it. */
export class EmbeddedDatabaseError extends Error {
  readonly code: EmbeddedErrorCode;
  readonly advice: string;
  readonly log: string;

  constructor(code: EmbeddedErrorCode, message: string, options: EmbeddedErrorOptions = {}) {
    super(message, options);
    this.name = 'EmbeddedDatabaseError';
    this.code = code;
    this.advice = options.advice ?? '';
    this.log = options.log ?? '';
  }
}
