import { tmpdir } from 'node:os';
import { classifyFailure, embeddedFailure, failureFrom, withAdvice } from './failures.js';

describe('the last words of a server that did not start', () => {
  it.each([
    ['FATAL:  could not write lock file "postmaster.pid": No space left on device', 'DISK_FULL'],
    ['initdb: error: could not create directory "/x/pg_wal": Disk quota exceeded', 'DISK_FULL'],
    ['PANIC:  could not write to file "pg_wal/xlogtemp.12": No space left on device', 'DISK_FULL'],
    [
      'postgres: error while loading shared libraries: libicui18n.so.60: cannot open shared object file',
      'BINARIES_UNUSABLE',
    ],
    ['Execution of PostgreSQL by a user with administrative permissions is not permitted.', 'BINARIES_UNUSABLE'],
    ['FATAL:  lock file "postmaster.pid" already exists', 'IN_USE'],
    ['FATAL:  pre-existing shared memory block (key 21234, ID 3) is still in use', 'IN_USE'],
    ['LOG:  could not bind IPv4 address "127.0.0.1": Address already in use', 'PORT_TAKEN'],
    ['FATAL:  database files are incompatible with server', 'INCOMPATIBLE_DATA'],
    ['PANIC:  could not locate a valid checkpoint record at 0/1', 'DATA_DAMAGED'],
    ['FATAL:  could not map anonymous shared memory: Cannot allocate memory', 'SYSTEM_LIMIT'],
    ['FATAL:  could not open directory "pg_notify": Permission denied', 'FOLDER_UNUSABLE'],
    ['FATAL:  data directory "/x" has invalid permissions', 'FOLDER_UNUSABLE'],
    ['FATAL:  something never seen', 'START_FAILED'],
  ])('%s means %s', (log, code) => {
    expect(classifyFailure(log)).toBe(code);
  });

  it('are quoted where they mean nothing known', () => {
    expect(failureFrom('LOG:  starting\nFATAL:  something never seen\n', tmpdir()).message).toContain(
      'something never seen',
    );
  });
});

describe('what the file system refuses', () => {
  it.each([
    ['ENOSPC', 'DISK_FULL'],
    ['EROFS', 'FOLDER_UNUSABLE'],
    ['EACCES', 'FOLDER_UNUSABLE'],
  ])('%s becomes %s with advice', (code, expected) => {
    const refuse = (): never => {
      throw Object.assign(new Error(code), { code });
    };
    expect(() => withAdvice('/some/folder', refuse)).toThrow(
      expect.objectContaining({ code: expected, message: expect.stringContaining('/some/folder') }),
    );
  });

  it('passes on what has no advice', () => {
    expect(() => withAdvice('/some/folder', () => JSON.parse('{'))).toThrow(SyntaxError);
  });
});

it('advises on every code', () => {
  expect(embeddedFailure('BINARIES_MISSING', '/f').message).toContain(process.platform);
  expect(embeddedFailure('IN_USE', '/f').message).toContain('/f');
  expect(embeddedFailure('START_FAILED', '/f').advice).toContain('server.log');
});
