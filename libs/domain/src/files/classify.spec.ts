import { FILE_CLASSES, STATUS_BUCKETS } from '@workspace-graph/contracts';
import { bucketOf, classifyFile, type FileFacts, type FileVerdict } from './classify.js';

const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];

const DISKS = { never: 'never', gone: 'gone', unread: { sha256: null }, A: { sha256: A }, B: { sha256: B } } as const;
const REMOTES = {
  unasked: 'unasked',
  absent: 'absent',
  error: 'error',
  unread: { sha256: null },
  A: { sha256: A },
  B: { sha256: B },
  C: { sha256: C },
} as const;
const SYNCED = { '-': null, A } as const;
type Disk = keyof typeof DISKS;
type Synced = keyof typeof SYNCED;
const REMOTE_NAMES = Object.keys(REMOTES) as (keyof typeof REMOTES)[];

/** Of a tracked file of a central workspace: disk, last synced, pushed, then the class for each state of the remote. */
const TRACKED = `
                     unasked        absent         error        unread   A        B        C
  never   -  no    | remote_missing remote_missing remote_error pull     pull     pull     pull
  never   -  yes   | pull           remote_missing remote_error pull     pull     pull     pull
  never   A  no    | remote_missing remote_missing remote_error pull     pull     pull     pull
  never   A  yes   | pull           remote_missing remote_error pull     pull     pull     pull
  gone    -  no    | deleted_local  deleted_local  remote_error deleted_local deleted_local deleted_local deleted_local
  gone    -  yes   | deleted_local  remote_missing remote_error deleted_local deleted_local deleted_local deleted_local
  gone    A  no    | deleted_local  deleted_local  remote_error deleted_local deleted_local deleted_local deleted_local
  gone    A  yes   | deleted_local  remote_missing remote_error deleted_local deleted_local deleted_local deleted_local
  unread  -  no    | push           push           remote_error conflict conflict conflict conflict
  unread  -  yes   | push           remote_missing remote_error conflict conflict conflict conflict
  unread  A  no    | push           push           remote_error conflict push     conflict conflict
  unread  A  yes   | push           remote_missing remote_error conflict push     conflict conflict
  A       -  no    | push           push           remote_error conflict clean    conflict conflict
  A       -  yes   | push           remote_missing remote_error conflict clean    conflict conflict
  A       A  no    | clean          push           remote_error pull     clean    pull     pull
  A       A  yes   | clean          remote_missing remote_error pull     clean    pull     pull
  B       -  no    | push           push           remote_error conflict conflict clean    conflict
  B       -  yes   | push           remote_missing remote_error conflict conflict clean    conflict
  B       A  no    | push           push           remote_error conflict push     clean    conflict
  B       A  yes   | push           remote_missing remote_error conflict push     clean    conflict`;

/** Of a file without a record there: disk, last synced, record. What was pushed does not matter. */
const UNTRACKED = `
  never   -  none      | null           null           null         new_remote new_remote new_remote new_remote
  never   A  none      | null           null           null         new_remote new_remote new_remote new_remote
  gone    -  none      | null           null           null         new_remote new_remote new_remote new_remote
  gone    A  none      | null           null           null         new_remote new_remote new_remote new_remote
  unread  -  none      | new_local      new_local      new_local    conflict   conflict   conflict   conflict
  unread  A  none      | new_local      new_local      new_local    conflict   conflict   conflict   conflict
  A       -  none      | new_local      new_local      new_local    conflict   new_remote conflict   conflict
  A       A  none      | new_local      new_local      new_local    conflict   new_remote conflict   conflict
  B       -  none      | new_local      new_local      new_local    conflict   conflict   new_remote conflict
  B       A  none      | new_local      new_local      new_local    conflict   conflict   new_remote conflict
  never   -  tombstone | null           null           null         new_remote new_remote new_remote new_remote
  never   A  tombstone | null           null           null         new_remote new_remote new_remote new_remote
  gone    -  tombstone | null           null           null         new_remote new_remote new_remote new_remote
  gone    A  tombstone | null           null           null         new_remote new_remote new_remote new_remote
  unread  -  tombstone | new_local      new_local      new_local    conflict   conflict   conflict   conflict
  unread  A  tombstone | new_local      new_local      new_local    conflict   conflict   conflict   conflict
  A       -  tombstone | new_local      new_local      new_local    conflict   new_remote conflict   conflict
  A       A  tombstone | deleted_remote deleted_remote deleted_remote conflict new_remote conflict   conflict
  B       -  tombstone | new_local      new_local      new_local    conflict   conflict   new_remote conflict
  B       A  tombstone | new_local      new_local      new_local    conflict   conflict   new_remote conflict`;

interface Row {
  readonly disk: Disk;
  readonly synced: Synced;
  readonly third: string;
  readonly classes: readonly string[];
}

function rowsOf(table: string): Row[] {
  return table.split('\n').flatMap((line) => {
    const [state, classes] = line.split('|');
    if (classes === undefined) return [];
    const [disk, synced, third = ''] = (state ?? '').trim().split(/\s+/) as [Disk, Synced, string];
    return [{ disk, synced, third, classes: classes.trim().split(/\s+/) }];
  });
}

/** Every combination there is. */
function everyCase(): FileFacts[] {
  let cases: Partial<FileFacts>[] = [{}];
  const vary = <Key extends keyof FileFacts>(key: Key, values: readonly FileFacts[Key][]): void => {
    cases = cases.flatMap((facts) => values.map((value) => ({ ...facts, [key]: value })));
  };
  vary('workspace', ['local', 'central']);
  vary('record', ['tracked', 'none', 'tombstone']);
  vary('native', [false, true]);
  vary('pushed', [false, true]);
  vary('disk', Object.values(DISKS));
  vary('synced', Object.values(SYNCED));
  vary('remote', Object.values(REMOTES));
  return cases as FileFacts[];
}

const verdicts = (facts: readonly FileFacts[]): Set<FileVerdict | null> => new Set(facts.map(classifyFile));
const all = everyCase();

describe('the class of a file', () => {
  it('of a tracked one is as the table tells, for every state of disk, last sync and remote [files.classes]', () => {
    const rows = rowsOf(TRACKED);
    const told = rows.map(({ disk, synced, third }) =>
      REMOTE_NAMES.map((remote) =>
        classifyFile({
          workspace: 'central',
          record: 'tracked',
          native: false,
          pushed: third === 'yes',
          disk: DISKS[disk],
          synced: SYNCED[synced],
          remote: REMOTES[remote],
        }),
      ),
    );
    expect(told).toEqual(rows.map(({ classes }) => classes));
    expect(rows.length * REMOTE_NAMES.length).toBe(5 * 2 * 2 * 7);
  });

  it.each([false, true])('of one without a record is as the table tells, pushed: %s', (pushed) => {
    const rows = rowsOf(UNTRACKED);
    const told = rows.map(({ disk, synced, third }) =>
      REMOTE_NAMES.map((remote) =>
        classifyFile({
          workspace: 'central',
          record: third === 'none' ? 'none' : 'tombstone',
          native: false,
          pushed,
          disk: DISKS[disk],
          synced: SYNCED[synced],
          remote: REMOTES[remote],
        }),
      ),
    );
    expect(told.map((classes) => classes.map(String))).toEqual(rows.map(({ classes }) => classes));
    expect(rows.length * REMOTE_NAMES.length).toBe(5 * 2 * 2 * 7);
  });

  it('is a documented one in every case, each of which occurs, and none but for a file that is nowhere [files.classes]', () => {
    expect(all).toHaveLength(2 * 3 * 2 * 2 * 5 * 2 * 7);
    expect(verdicts(all)).toEqual(new Set([...FILE_CLASSES, 'deleted_remote', null]));
    const nowhere = all.filter((facts) => classifyFile(facts) === null);
    for (const { record, disk, remote, workspace } of nowhere) {
      expect(record).not.toBe('tracked');
      expect(typeof disk).toBe('string');
      expect(workspace === 'local' || typeof remote === 'string').toBe(true);
    }
  });

  it('in a local workspace is clean, deleted_local or new_local and hangs on no remote [files.class.local-only]', () => {
    const local = all.filter(({ workspace }) => workspace === 'local');
    const tracked = local.filter(({ record }) => record === 'tracked');
    expect(verdicts(tracked)).toEqual(new Set(['clean', 'deleted_local']));
    expect(verdicts(local.filter(({ record }) => record !== 'tracked'))).toEqual(new Set(['new_local', null]));
    for (const facts of local) {
      const withoutRemote = { ...facts, remote: 'unasked', synced: null } as const;
      expect(classifyFile(facts)).toBe(classifyFile(withoutRemote));
    }
  });

  it('is deleted_local for a pushed file that was deleted here, wherever its remote content is still there [files.class.deleted-local]', () => {
    const deleted = all.filter(
      ({ record, native, pushed, disk, remote }) =>
        record === 'tracked' && !native && pushed && disk === 'gone' && typeof remote === 'object',
    );
    expect(deleted.length).toBeGreaterThan(0);
    expect(verdicts(deleted)).toEqual(new Set(['deleted_local']));
  });

  it('never takes content that nobody has read for gone, nor for unchanged', () => {
    const unread = all.filter(({ disk }) => typeof disk === 'object' && disk.sha256 === null);
    for (const verdict of ['deleted_local', 'deleted_remote', 'pull', null] as const)
      expect(verdicts(unread)).not.toContain(verdict);
    const remoteUnread = all.filter(
      ({ remote, workspace, native }) =>
        workspace === 'central' && !native && typeof remote === 'object' && remote.sha256 === null,
    );
    for (const verdict of ['clean', 'push', 'remote_missing', 'deleted_remote'] as const)
      expect(verdicts(remoteUnread)).not.toContain(verdict);
  });

  it('of a cloud document is native wherever there is a remote', () => {
    const native = all.filter((facts) => facts.native && facts.record === 'tracked');
    expect(verdicts(native.filter(({ workspace }) => workspace === 'central'))).toEqual(new Set(['native']));
    expect(verdicts(native.filter(({ workspace }) => workspace === 'local'))).toEqual(new Set(['clean']));
  });

  it('has one bucket, and every bucket one class', () => {
    const buckets = [...FILE_CLASSES, 'deleted_remote' as const].map(bucketOf);
    expect(new Set(buckets)).toEqual(new Set(STATUS_BUCKETS));
    expect(buckets).toHaveLength(STATUS_BUCKETS.length);
  });
});
