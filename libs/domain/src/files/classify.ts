import type { FileClass, StatusBucket } from '@workspace-graph/contracts';
import { assertNever } from '../assert-never.js';

/** Content that is present. */
export interface PresentContent {
  /** Null when nobody has read the content: it then counts neither as unchanged nor as gone. */
  readonly sha256: string | null;
}

/** Everything that decides the class of a file. */
export interface FileFacts {
  /** A local workspace has no remote; what is said of one counts for nothing there. */
  readonly workspace: 'local' | 'central';
  /** none: not tracked; tombstone: the record was removed elsewhere, and the copies of it are to go. */
  readonly record: 'tracked' | 'none' | 'tombstone';
  /** A document of a cloud service without bytes. */
  readonly native: boolean;
  /** Whether any device ever pushed the file. */
  readonly pushed: boolean;
  /** never: this device has not had the file; gone: it had it, and it is absent from a folder that is there. */
  readonly disk: 'never' | 'gone' | PresentContent;
  /** Hash that this device last had in common with the remote; null before the first sync. */
  readonly synced: string | null;
  /** unasked: nobody has looked; absent: confirmed to be not there; error: the question failed. */
  readonly remote: 'unasked' | 'absent' | 'error' | PresentContent;
}

/** A class, or `deleted_remote`: an unchanged copy of a file whose record was removed elsewhere. */
export type FileVerdict = FileClass | 'deleted_remote';

const BUCKETS: Readonly<Record<FileVerdict, StatusBucket>> = {
  clean: 'clean',
  push: 'push_candidates',
  pull: 'pull_candidates',
  conflict: 'conflicts',
  remote_missing: 'remote_missing',
  remote_error: 'remote_error',
  native: 'native',
  deleted_local: 'deleted_local',
  new_local: 'new_local',
  new_remote: 'new_remote',
  deleted_remote: 'deleted_remote',
};

/** The bucket of a status answer in which files of a class are told. */
export function bucketOf(verdict: FileVerdict): StatusBucket {
  return BUCKETS[verdict];
}

/** The class of a file; null when there is none: not tracked, and nowhere to be found. */
export function classifyFile(facts: FileFacts): FileVerdict | null {
  return facts.workspace === 'local' ? classifyLocal(facts) : classifyCentral(facts);
}

function classifyLocal({ record, native, disk }: FileFacts): FileVerdict | null {
  const isHere = typeof disk === 'object';
  if (record !== 'tracked') return isHere ? 'new_local' : null;
  return isHere || native ? 'clean' : 'deleted_local';
}

function classifyCentral(facts: FileFacts): FileVerdict | null {
  switch (facts.record) {
    case 'tracked':
      return facts.native ? 'native' : classifyTracked(facts);
    case 'tombstone':
      return isUnchangedCopy(facts) ? 'deleted_remote' : classifyUntracked(facts);
    case 'none':
      return classifyUntracked(facts);
    default:
      return assertNever(facts.record);
  }
}

/** Only a copy that is proven to be the last common content may go; an edited one stays. */
function isUnchangedCopy({ disk, synced, remote }: FileFacts): boolean {
  return typeof disk === 'object' && typeof remote !== 'object' && isSame(disk.sha256, synced);
}

function classifyUntracked({ disk, remote }: FileFacts): FileVerdict | null {
  if (typeof disk !== 'object') return typeof remote === 'object' ? 'new_remote' : null;
  if (typeof remote !== 'object') return 'new_local';
  return isSame(disk.sha256, remote.sha256) ? 'new_remote' : 'conflict';
}

function classifyTracked(facts: FileFacts): FileVerdict {
  const { disk, remote, pushed, synced } = facts;
  if (remote === 'error') return 'remote_error';
  if (disk === 'never') return classifyNeverHere(facts);
  if (disk === 'gone') return remote === 'absent' && pushed ? 'remote_missing' : 'deleted_local';
  if (remote === 'absent') return pushed ? 'remote_missing' : 'push';
  const isLocalChanged = !isSame(disk.sha256, synced);
  if (remote === 'unasked') return isLocalChanged ? 'push' : 'clean';
  if (isSame(disk.sha256, remote.sha256)) return 'clean';
  if (isSame(remote.sha256, synced)) return 'push';
  return isLocalChanged ? 'conflict' : 'pull';
}

function classifyNeverHere({ remote, pushed }: FileFacts): FileVerdict {
  if (typeof remote === 'object') return 'pull';
  return remote === 'unasked' && pushed ? 'pull' : 'remote_missing';
}

function isSame(one: string | null, other: string | null): boolean {
  return one !== null && one === other;
}
