import {
  fileStatus,
  getSyncHealth,
  getSyncStatus,
  type OutputOf,
  readMembership,
  type ScanProgress,
  STATUS_BUCKETS,
  type StatusBucket,
  type StatusEntry,
  whoami,
} from '@workspace-graph/contracts';
import { loadConfig } from '@workspace-graph/platform/config';
import type { Command } from 'commander';
import type { z } from 'zod';
import { endsSoon, howToJoinAgain } from '../../joined/membership.js';
import { databaseOutside } from '../../workspace/database-place.js';
import { type WorkspacePaths, workspacePaths } from '../../workspace/workspace-paths.js';
import { findWorkspace, type WorkspaceState } from '../../workspace/workspace-state.js';
import { CliError, notRunning } from '../cli-error.js';
import { type Output, table } from '../output.js';
import { resolveNode } from '../resolve-node.js';
import { runs } from '../run-command.js';
import { counted, indented, printable } from '../text.js';
import { connect } from '../workspace-client.js';

type Health = OutputOf<typeof getSyncHealth>;
type Membership = NonNullable<OutputOf<typeof readMembership>['membership']>;
type FolderStatus = OutputOf<typeof getSyncStatus>;
type FileStates = OutputOf<typeof fileStatus>;
type Progress = z.infer<typeof ScanProgress>;

const SHOWN_FAILURES = 10;
const SHOWN_FILES = 50;

const EXAMPLES = `
Examples:
  svc status                  whether the workspace runs, its folders, scans and failures
  svc status "Second oven"    the folder of one node and the state of its files`;

/** `svc status` */
export function statusCommand(program: Command): void {
  runs(
    program
      .command('status')
      .description('show whether the workspace is running, who you are, and the state of its folders')
      .argument('[node]', 'show the state of the files of this node, by id, name or path')
      .addHelpText('after', EXAMPLES),
    async ({ out, args: [node] }) => (node === undefined ? workspaceStatus(out) : nodeStatus(out, node)),
  );
}

async function workspaceStatus(out: Output): Promise<void> {
  const { config } = loadConfig('cli', process.env);
  const paths = workspacePaths(config.SVC_WORKSPACE_ROOT);
  const client = await connect();
  const state = config.SVC_URL ? null : await findState(paths);
  const me = await client.call(whoami, {});
  const folders = await orNull(client.call(getSyncHealth, {}));
  const membership = (await orNull(client.call(readMembership, {})))?.membership ?? null;
  const value = {
    running: true,
    url: client.url,
    pid: state?.pid ?? null,
    started_at: state?.started_at ?? null,
    version: state?.version ?? null,
    root: state ? paths.root : null,
    database_folder: state?.database_folder ?? null,
    user: me.user.name,
    scope: me.scope,
    membership,
    folders,
  };
  const local = state
    ? [
        ['folder', paths.root],
        ...databaseRow(state, paths),
        ['process', String(state.pid)],
        ['since', state.started_at],
        ['version', state.version],
      ]
    : [];
  const rows = [['running', 'yes'], ['url', client.url], ...local, ['you are', `${me.user.name} (${me.scope})`]];
  if (membership) rows.push(...membershipRows(membership));
  out.result(value, [
    ...table([...rows, ...(folders ? healthRows(folders) : [])]),
    ...(folders ? [...failureLines(folders), ...setAsideLines(folders)] : []),
  ]);
}

async function findState(paths: WorkspacePaths): Promise<WorkspaceState> {
  const state = (await findWorkspace(paths))?.state;
  if (!state) throw notRunning(paths.root);
  return state;
}

/** Whoever moves or saves the folder alone would lose what lies elsewhere. */
function databaseRow(state: WorkspaceState, paths: WorkspacePaths): string[][] {
  const outside = databaseOutside(state, paths);
  return outside === null ? [] : [['database', `${outside} (outside the folder)`]];
}

const LINK_STATES = {
  connected: 'connected',
  unreachable: 'cannot be reached; what changes in folders meanwhile is told to it afterwards',
  refused: 'does not take this device any more',
} as const;

function membershipRows({ url, device, state, problem, since, token_expires_at }: Membership): string[][] {
  return [
    ['centre', `${url} ${LINK_STATES[state]} (since ${since})`],
    ...(problem === null ? [] : [['', problem]]),
    ['device', `${device.name}, until ${token_expires_at.slice(0, 10)}`],
    ...(state === 'refused' || endsSoon({ token_expires_at }) ? [['', howToJoinAgain(url)]] : []),
  ];
}

/** Null where a workspace has no such thing, as a central one has no folders of nodes. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CliError && error.code === 'ROUTE_NOT_FOUND') return null;
    throw error;
  }
}

function healthRows({ mirrors, mirrors_missing, files, watching, scans }: Health): string[][] {
  const missing = mirrors_missing > 0 ? `, ${mirrors_missing} missing` : '';
  return [
    ['mirrors', `${mirrors}${missing}; ${counted(files, 'tracked file')}`],
    ['watcher', watching ? 'on' : 'off'],
    ...scans.map((scan) => ['scanning', `${scan.node.name}: ${progressText(scan)}`]),
  ];
}

/** How far a scan is, in words. */
export function progressText({ seen, to_read }: Pick<Progress, 'seen' | 'to_read'>): string {
  return `${counted(seen, 'file')} found, ${to_read} to read`;
}

function failureLines({ failures, failures_complete }: Health): string[] {
  if (failures.length === 0) return [];
  const shown = failures.slice(0, SHOWN_FAILURES);
  const isAll = failures_complete && shown.length === failures.length;
  return [
    '',
    'Could not be tracked:',
    ...indented(shown.map(({ node, path, message }) => `${node.name}: ${failureText(path, message)}`)),
    ...(isAll ? [] : indented(['… and more; --json shows them'])),
  ];
}

function setAsideLines({ set_aside }: Health): string[] {
  if (set_aside.length === 0) return [];
  return [
    '',
    'Set aside, because you do not see their nodes any more (take what you need, and delete the folder):',
    ...indented(set_aside.map(({ path, files }) => `${printable(path)}: ${counted(files, 'file')}`)),
  ];
}

/** A failure of the folder itself has no path. */
export function failureText(path: string, message: string): string {
  return printable(path === '' ? message : `${path}: ${message}`);
}

async function nodeStatus(out: Output, node: string): Promise<void> {
  const client = await connect();
  const node_id = await resolveNode(client, node);
  const folder = await client.call(getSyncStatus, { node_id });
  const files = await client.call(fileStatus, { node_id });
  out.result({ folder, files }, [...folderLines(folder), ...fileLines(files)]);
}

function folderLines({ mirror, watching, scan, tracked, pending_operations, watcher_errors }: FolderStatus): string[] {
  if (!mirror) return ['The node has no folder on this device; create it with `svc mirror create`.'];
  return [
    ...table([
      ['folder', mirror.local_path ?? 'at a path that you may not see'],
      ['state', mirror.state],
      ['watcher', watching ? 'on' : 'off'],
      ['tracked', counted(tracked, 'file')],
      ...(scan.running ? [['scanning', progressText(scan)]] : []),
      ...(pending_operations > 0 ? [['pending', counted(pending_operations, 'change')]] : []),
    ]),
    ...(watcher_errors.length > 0 ? ['', 'Could not be tracked:'] : []),
    ...indented(watcher_errors.map(({ path, message }) => failureText(path, message))),
  ];
}

/** Clean files are counted; the others are named. */
function fileLines(files: FileStates): string[] {
  const sizes = STATUS_BUCKETS.filter((bucket) => files.counts[bucket] > 0).map(
    (bucket) => `${files.counts[bucket]} ${bucket.replaceAll('_', ' ')}`,
  );
  if (sizes.length === 0) return ['', 'No files.'];
  const named = STATUS_BUCKETS.filter((bucket) => bucket !== 'clean').flatMap((bucket) => bucketLines(files, bucket));
  const troubled = files.clean.filter(({ problem }) => problem !== null).map(entryLine);
  return ['', `Files: ${sizes.join(', ')}`, ...named, ...indented(troubled.slice(0, SHOWN_FILES))];
}

function bucketLines(files: FileStates, bucket: StatusBucket): string[] {
  const entries = files[bucket].slice(0, SHOWN_FILES);
  const more = files.counts[bucket] - entries.length;
  if (entries.length === 0) return [];
  return [
    '',
    `${bucket.replaceAll('_', ' ')}:`,
    ...indented([...entries.map(entryLine), ...(more > 0 ? [`… and ${more} more`] : [])]),
  ];
}

function entryLine({ path, problem }: z.infer<typeof StatusEntry>): string {
  return problem === null ? printable(path) : `${printable(path)}: ${printable(problem)}`;
}
