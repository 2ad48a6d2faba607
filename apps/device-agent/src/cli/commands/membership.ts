import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { takeOwnership } from '@workspace-graph/database/embedded';
import type { OnlyHere, Uncleared } from '@workspace-graph/device';
import { loadConfig } from '@workspace-graph/platform/config';
import { type Command, Option } from 'commander';
import { requireStore, TOKEN_STORES, type TokenStore } from '../../joined/device-token-stores.js';
import { centreUrl, joinCentre, revokeAtCentre } from '../../joined/join-centre.js';
import { clearAgentFiles, findOnlyHere, leaveFolder } from '../../joined/leave-folder.js';
import { type Membership, readDeviceToken, readMembership, storeMembership } from '../../joined/membership.js';
import { ensureFolders } from '../../workspace/workspace-folders.js';
import { type WorkspacePaths, workspacePaths } from '../../workspace/workspace-paths.js';
import { findWorkspace } from '../../workspace/workspace-state.js';
import { CliError } from '../cli-error.js';
import { type ConfirmOptions, confirmed, YES } from '../confirm.js';
import { requireLocal } from '../local-only.js';
import type { Output } from '../output.js';
import { runs } from '../run-command.js';
import { counted, printable } from '../text.js';
import { alreadyRunning } from '../unusable-workspace.js';

interface JoinOptions {
  readonly code?: string;
  readonly name?: string;
  readonly root?: string;
  readonly insecure?: boolean;
  readonly tokenStore?: TokenStore;
}
interface LeaveOptions extends ConfirmOptions {
  readonly root?: string;
  readonly offline?: boolean;
}

/** What `svc leave` does, or would do. */
interface Leaving {
  readonly url: string;
  readonly device: { readonly id: string; readonly name: string };
  readonly root: string;
  readonly left: boolean;
  readonly put_aside: string | null;
  /** Folders with files that are on no remote as they lie here. */
  readonly only_here: readonly OnlyHere[];
  readonly uncleared: readonly Uncleared[];
}

const EXAMPLES = `
Examples:
  svc join https://graph.example.org            asks for the code that \`svc device invite\` has printed
  svc join graph.example.org --root ~/Acme      in a folder of its own
  svc join https://graph.example.org            once more, in the same folder, before or after the token of the device has ended`;

/** `svc join`, `svc leave` */
export function membershipCommands(program: Command): void {
  runs<JoinOptions>(
    program
      .command('join')
      .description(
        'make this workstation a device of a central workspace, with a code of `svc device invite`; one that is a device already gets a new token',
      )
      .argument('<url>', 'where the central workspace answers')
      .option('--code <code>', 'the code; without it, it is asked for, or read from standard input')
      .option('--name <name>', 'what the device is called; default: as before, or the name of this machine')
      .option('--root <folder>', 'folder of the workspace')
      .option('--insecure', 'allow an address without encryption')
      .addOption(
        new Option(
          '--token-store <store>',
          'where the token of the device is kept: a file of its user alone, or the keychain; default: as before, or file',
        ).choices(TOKEN_STORES),
      )
      .addHelpText('after', EXAMPLES),
    async ({ out, args: [url = ''], options }) => joinWorkspace(out, url, options),
  );
  runs<LeaveOptions>(
    program
      .command('leave')
      .description(
        'make this workstation no device of its central workspace any more; files in the folders of nodes stay',
      )
      .option(...YES)
      .option('--root <folder>', 'folder of the workspace')
      .option('--offline', 'forget it here although the central workspace cannot be reached'),
    async ({ out, options }) => leaveWorkspace(out, options),
  );
}

async function joinWorkspace(out: Output, address: string, options: JoinOptions): Promise<void> {
  requireLocal('join');
  const paths = pathsOf(options.root);
  const url = centreUrl(address, { insecure: options.insecure ?? false });
  const before = await formerMembership(paths, url);
  const token_store = options.tokenStore ?? before?.token_store ?? 'file';
  await requireStore(token_store);
  const code = (options.code ?? (await readCode())).trim();
  await ensureFolders(paths);
  const lock = takeOwnership(paths.own);
  try {
    const name = options.name ?? before?.device.name ?? (hostname() || 'workstation');
    const { device, token, expires_at } = before
      ? await joinAgain(url, { code, name, device_id: before.device.id })
      : await joinCentre(url, { code, name });
    const membership: Membership = {
      format: 1,
      url,
      device: { id: device.id, name: device.name },
      user: device.user,
      scope: device.scope ?? 'read',
      me: before?.me ?? null,
      joined_at: device.joined_at,
      token_expires_at: expires_at,
      token_store,
    };
    await storeMembership(paths, membership, token, before);
    const start = options.root === undefined ? 'svc start' : `svc start --root ${paths.root}`;
    out.result({ ...membership, root: paths.root }, [
      `This workstation is a device of ${url} ${before ? 'again' : 'now'}: ${device.name}, of ${device.user.name}, until ${expires_at.slice(0, 10)}.`,
      `Its folder is ${paths.root}. Start it with \`${start}\`.`,
    ]);
  } finally {
    lock.release();
  }
}

/**
 * What this folder was until now of that central workspace; null for a new folder. Before anything is asked of the centre:
 * a code works once. @throws CliError ALREADY_RUNNING, ALREADY_JOINED, NOT_EMPTY
 */
async function formerMembership(paths: WorkspacePaths, url: string): Promise<Membership | null> {
  const found = await findWorkspace(paths);
  if (found) throw alreadyRunning(found, paths);
  const membership = await readMembership(paths);
  if (membership?.url === url) return membership;
  if (membership)
    throw new CliError('ALREADY_JOINED', `${paths.root} belongs to ${membership.url} already.`, {
      hint: 'Start it with `svc start`; leave that workspace with `svc leave`; or join in another folder with --root.',
    });
  if (existsSync(paths.database) || existsSync(paths.token))
    throw new CliError('NOT_EMPTY', `${paths.root} holds a local workspace, which stays as it is.`, {
      hint: 'Join in another folder with --root (also SVC_WORKSPACE_ROOT). `svc export` and `svc import` bring the graph along.',
    });
  return null;
}

/** The same device with a new token; what this folder knows of its files stays. */
async function joinAgain(
  url: string,
  request: Required<Parameters<typeof joinCentre>[1]>,
): ReturnType<typeof joinCentre> {
  try {
    return await joinCentre(url, request);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'DEVICE_NOT_FOUND') throw error;
    throw new CliError(error.code, error.message, {
      hint: 'Leave first with `svc leave`, which keeps the files in the folders of nodes; or join in another folder with --root.',
    });
  }
}

async function readCode(): Promise<string> {
  if (!process.stdin.isTTY) return text(process.stdin);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question('Code of `svc device invite`: ');
  } finally {
    terminal.close();
  }
}

async function leaveWorkspace(out: Output, options: LeaveOptions): Promise<void> {
  requireLocal('leave');
  const paths = pathsOf(options.root);
  const found = await findWorkspace(paths);
  if (found)
    throw new CliError('ALREADY_RUNNING', 'The workspace is running.', { hint: 'Stop it first with `svc stop`.' });
  const membership = await readMembership(paths).catch((error: unknown) => {
    if (options.offline && error instanceof CliError && error.code === 'MEMBERSHIP_DAMAGED') return 'damaged' as const;
    throw error;
  });
  if (membership === null)
    throw new CliError('NOT_JOINED', `${paths.root} belongs to no central workspace.`, {
      hint: 'Name its folder with --root or SVC_WORKSPACE_ROOT.',
    });
  const { url, device } =
    membership === 'damaged'
      ? { url: 'its central workspace', device: { id: 'DEVICE', name: 'workstation' } }
      : membership;
  const leaving = { url, device, root: paths.root };
  await confirmed(
    out,
    {
      preview: () =>
        owned(paths, async (): Promise<Leaving> => {
          const only_here = await findOnlyHere(paths);
          return { ...leaving, left: false, put_aside: null, only_here, uncleared: [] };
        }),
      apply: () =>
        owned(paths, async () => {
          const only_here = await findOnlyHere(paths);
          if (membership !== 'damaged' && !options.offline) await revoke(membership, paths);
          const uncleared = await clearAgentFiles(paths);
          const put_aside = await leaveFolder(paths, membership === 'damaged' ? null : membership);
          return { ...leaving, left: true, put_aside, only_here, uncleared };
        }),
      describe: (answer) => leavingLines(answer, options),
    },
    options,
  );
}

function leavingLines(
  { left, url, device, root, put_aside, only_here, uncleared }: Leaving,
  { offline }: LeaveOptions,
): string[] {
  if (!left)
    return [
      `The device ${device.name} leaves ${url}: its token ends, and its folders are not tracked any more.`,
      'SVC_SCOPE.md and the entries for this workspace in the configuration of agents go from its folders.',
      'The files in the folders of nodes stay; changes that the central workspace has not heard of stay here alone.',
      ...onlyHereLines(only_here),
      ...(only_here.length === 0 ? [] : ['To upload them first, start the workspace and use `svc files store`.']),
    ];
  return [
    `${root} belongs to ${url} no more. The files in the folders of nodes are where they were.`,
    'SVC_SCOPE.md and the entries for this workspace in the configuration of agents were removed from them.',
    ...uncleared.map(({ path, problem }) => `They could not be removed from ${path}: ${problem}`),
    ...onlyHereLines(only_here),
    `What the device knew of them, and its trash, lies in ${put_aside}.`,
    ...(offline ? [`Revoke it there too: \`svc device revoke ${device.id}\`.`] : []),
  ];
}

function onlyHereLines(folders: readonly OnlyHere[]): string[] {
  const files = folders.reduce((sum, folder) => sum + (folder.files ?? 0), 0);
  const verb = files === 1 ? 'is' : 'are';
  return [
    ...(files === 0 ? [] : [`${counted(files, 'file')} ${verb} here alone, never uploaded or changed since:`]),
    ...folders.flatMap((folder) => (folder.files === null ? [] : [`  ${folder.files} in ${printable(folder.path)}`])),
    ...folders.flatMap(({ path, problem }) =>
      problem === null ? [] : [`How many files are here alone is not known of ${printable(path)}: ${problem}`],
    ),
  ];
}

/** While nobody else starts, joins or leaves it. */
async function owned<T>({ own }: WorkspacePaths, work: () => Promise<T>): Promise<T> {
  const lock = takeOwnership(own);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function revoke(membership: Membership, paths: WorkspacePaths): Promise<void> {
  const { url, device } = membership;
  try {
    await revokeAtCentre(url, device.id, await readDeviceToken(paths, membership));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(error.code, error.message, {
      ...error.options,
      hint: 'Nothing was changed. With --offline the device is forgotten here alone; revoke it there later.',
    });
  }
}

function pathsOf(root: string | undefined): WorkspacePaths {
  if (root !== undefined) process.env['SVC_WORKSPACE_ROOT'] = root;
  return workspacePaths(loadConfig('cli', process.env).config.SVC_WORKSPACE_ROOT);
}
