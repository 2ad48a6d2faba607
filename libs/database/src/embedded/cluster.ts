import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Binaries } from './binaries.js';
import { embeddedFailure, failureFrom, requireFreeSpace, withAdvice } from './failures.js';
import { isGone } from './look.js';
import { keepOwner, makeServerFolder, type Places, syncFolder, writeAtomically } from './places.js';
import { identityOf, serverEnvironment } from './server-user.js';

/** The database and the role that owns it; the server's superuser has no password and cannot log in. */
export const databaseName = 'workspace';

interface ProgramResult {
  readonly status: number | null;
  readonly output: string;
}

function run(program: string, args: string[], places: Places, input = ''): Promise<ProgramResult> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramResult>();
  const child = spawn(program, args, {
    ...identityOf(places.user),
    cwd: '/',
    env: serverEnvironment(),
    stdio: 'pipe',
    windowsHide: true,
  });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  // A program that ends before it read its input says so in its output.
  child.stdin.on('error', () => undefined);
  child.once('error', reject);
  child.once('close', (status) => resolve({ status, output }));
  child.stdin.end(input);
  return promise;
}

/** Logging in takes the password on the socket too: as root the server runs as a user that others may share. */
const accessRules = `local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
`;

async function runSingleUser(
  binaries: Binaries,
  places: Places,
  dataFolder: string,
  commands: readonly string[],
): Promise<void> {
  const args = ['--single', '-D', dataFolder, '-c', 'exit_on_error=true', '-c', 'log_checkpoints=off', 'postgres'];
  const { status, output } = await run(binaries.postgres, args, places, `${commands.join('\n')}\n`);
  if (status !== 0 || /\b(ERROR|FATAL|PANIC):/.test(output)) throw failureFrom(output, places.root);
}

/** Every line is one command: single-user mode takes them so. */
function setPassword(verb: 'CREATE' | 'ALTER', password: string): string {
  return `${verb} ROLE ${databaseName} LOGIN CREATEDB PASSWORD '${password}'`;
}

function newPassword(): string {
  return randomBytes(32).toString('base64url');
}

function savePassword(folder: string, password: string): void {
  withAdvice(folder, () => {
    writeAtomically(join(folder, 'password'), password);
    keepOwner(folder, join(folder, 'password'));
  });
}

/** Text search tells letters from other signs by this; without one of them, everything beyond ASCII is a letter. */
const characterTypes = process.platform === 'win32' ? ['C'] : ['C.UTF-8', 'en_US.UTF-8', 'C'];

async function initialise(binaries: Binaries, places: Places, dataFolder: string): Promise<ProgramResult> {
  const args = [
    '-D',
    dataFolder,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ];
  let result: ProgramResult = { status: null, output: '' };
  for (const characterType of characterTypes) {
    result = await run(binaries.initdb, [...args, `--lc-ctype=${characterType}`], places);
    if (!result.output.includes('invalid locale name')) break;
  }
  return result;
}

/** Built under another name and renamed when complete: what is called `data` is whole, whenever the power goes. */
async function create(binaries: Binaries, places: Places): Promise<string> {
  requireFreeSpace(places.root);
  const draft = `${places.dataFolder}.new`;
  withAdvice(places.folder, () => {
    // Before the draft: a password without one stands for data that were there.
    rmSync(join(places.folder, 'password'), { force: true });
    rmSync(draft, { recursive: true, force: true });
    makeServerFolder(draft, places.user);
  });
  const { status, output } = await initialise(binaries, places, draft);
  if (status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    throw failureFrom(output, places.root);
  }
  const password = newPassword();
  savePassword(places.folder, password);
  await runSingleUser(binaries, places, draft, [
    setPassword('CREATE', password),
    `CREATE DATABASE ${databaseName} OWNER ${databaseName}`,
    // Leaves the log a segment to spare, and each checkpoint keeps one: a disk that fills up is then found full by the
    // tables first, which refuse the change, and not by the log, which ends the server.
    'SELECT pg_switch_wal()',
  ]);
  withAdvice(places.folder, () => {
    const rules = join(draft, 'pg_hba.conf');
    writeFileSync(rules, accessRules);
    if (places.user !== undefined) chownSync(rules, places.user.uid, places.user.gid);
    renameSync(draft, places.dataFolder);
    syncFolder(places.root);
  });
  return password;
}

function checkVersion(binaries: Binaries, places: Places): void {
  const major = Number.parseInt(readFileSync(join(places.dataFolder, 'PG_VERSION'), 'utf8'), 10);
  if (major !== binaries.major)
    throw embeddedFailure(
      'INCOMPATIBLE_DATA',
      places.folder,
      `data of PostgreSQL ${major}, programs of PostgreSQL ${binaries.major}`,
    );
}

function isEmptyOrAbsent(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).length === 0;
}

/** Whether the folder has a database already; refuses one of another major version, without its first file, or whose data are gone. */
export function clusterExists(binaries: Binaries, places: Places): boolean {
  return withAdvice(places.folder, () => {
    if (existsSync(join(places.dataFolder, 'PG_VERSION'))) {
      checkVersion(binaries, places);
      return true;
    }
    if (!isEmptyOrAbsent(places.dataFolder))
      throw embeddedFailure('DATA_DAMAGED', places.folder, 'PG_VERSION is missing');
    if (isGone(places.folder, places.dataFolder))
      throw embeddedFailure('DATA_MISSING', `${places.folder} (kept in ${places.dataFolder})`);
    return false;
  });
}

/** Makes the database if it is not there. @returns the password of its owner; a lost one is replaced */
export async function ensureCluster(binaries: Binaries, places: Places, onCreate: () => void): Promise<string> {
  if (!clusterExists(binaries, places)) {
    onCreate();
    return create(binaries, places);
  }
  const file = join(places.folder, 'password');
  if (existsSync(file)) return withAdvice(places.folder, () => readFileSync(file, 'utf8').trim());
  const password = newPassword();
  await runSingleUser(binaries, places, places.dataFolder, [setPassword('ALTER', password)]);
  savePassword(places.folder, password);
  return password;
}
