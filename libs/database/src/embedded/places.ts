import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { embeddedFailure } from './failures.js';
import { canEnter, type ServerUser, serverUser } from './server-user.js';

/** Where the parts of one embedded database lie. */
export interface Places {
  /** What the caller named: lock, log and password. */
  readonly folder: string;
  /** Holds `data`, and where needed `run` and the binaries; mostly the folder itself. */
  readonly root: string;
  readonly dataFolder: string;
  readonly runFolder: string;
  readonly user: ServerUser | undefined;
}

/** Folder for databases of root whose workspace lies where the server's user cannot go, such as root's own home. */
const systemRoot = '/var/lib/workspace-graph';
const isRoot = (): boolean => process.getuid?.() === 0;

/** A file that root makes in a user's folder stays usable for that user. */
export function keepOwner(folder: string, file: string): void {
  if (!isRoot()) return;
  const { uid, gid } = statSync(folder);
  chownSync(file, uid, gid);
}

/** Makes a rename or a new name in the folder outlast a power cut. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes a whole file or nothing. */
export function writeAtomically(file: string, content: string): void {
  const handle = openSync(`${file}.new`, 'w', 0o600);
  try {
    writeFileSync(handle, content);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(`${file}.new`, file);
  syncFolder(dirname(file));
}

/** Makes the folder that holds everything. Root's is open for passing through, since another user runs the server. */
export function makeFolder(folder: string): string {
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
  const real = realpathSync(folder);
  if (isRoot() && statSync(real).uid === 0) chmodSync(real, 0o711);
  return real;
}

/** Makes a folder of the server's own, closed to everybody else. */
export function makeServerFolder(folder: string, user: ServerUser | undefined): void {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  if (user === undefined) return;
  chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
}

/** The folder of the system that the file `location` names, there or not; undefined where the data lies in the folder. */
export function locationOf(folder: string): string | undefined {
  const file = join(folder, 'location');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

function readLocation(folder: string): string | undefined {
  const root = locationOf(folder);
  if (root === undefined) return undefined;
  if (!existsSync(root)) throw embeddedFailure('DATA_MISSING', `${folder} (kept in ${root})`);
  return root;
}

function makeRoot(folder: string, elsewhere: string | undefined): string {
  const temporary = realpathSync(tmpdir());
  // What is passing stays among passing things.
  if (elsewhere === undefined && folder.startsWith(temporary + sep))
    return mkdtempSync(join(temporary, 'workspace-graph-'));
  const parent = elsewhere ?? systemRoot;
  const root = join(parent, randomBytes(8).toString('hex'));
  mkdirSync(root, { recursive: true });
  chmodSync(parent, 0o711);
  return root;
}

function makeLocation(folder: string, elsewhere: string | undefined): string {
  const root = makeRoot(folder, elsewhere);
  chmodSync(root, 0o711);
  // For the person who wonders whose data this is.
  writeAtomically(join(root, 'workspace'), `${folder}\n`);
  writeAtomically(join(folder, 'location'), `${root}\n`);
  return root;
}

function placesIn(folder: string, root: string, user: ServerUser | undefined): Places {
  return { folder, root, dataFolder: join(root, 'data'), runFolder: join(root, 'run'), user };
}

/**
 * Decides where the data lies: in the folder, or for root, where the server's user could not reach it there, in a
 * folder of the system that the file `location` names.
 */
export function findPlaces(folder: string, elsewhere?: string): Places {
  const located = readLocation(folder);
  if (located !== undefined) return placesIn(folder, located, serverUser(join(located, 'data')));
  const user = serverUser(join(folder, 'data'));
  if (canEnter(user, folder)) return placesIn(folder, folder, user);
  if (existsSync(join(folder, 'data'))) throw embeddedFailure('FOLDER_UNUSABLE', folder);
  return placesIn(folder, makeLocation(folder, elsewhere), user);
}
