import { deleteFile, LIMITS, moveFile, type OutputOf, renameFolder } from '@workspace-graph/contracts';
import type { Command } from 'commander';
import { type ConfirmOptions, confirmed, YES } from '../confirm.js';
import type { Output } from '../output.js';
import { filePath, resolveFile } from '../resolve-file.js';
import { resolveNode } from '../resolve-node.js';
import { runs } from '../run-command.js';
import { counted, indented, printable } from '../text.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';

interface MoveOptions extends ConfirmOptions {
  readonly to?: string;
}
interface DeleteOptions extends ConfirmOptions {
  readonly unregisterOnly?: boolean;
}

type Moved = OutputOf<typeof moveFile>;
type Deleted = OutputOf<typeof deleteFile>;
type Renamed = OutputOf<typeof renameFolder>;

const REMOVED = {
  record: 'its record',
  local_copy: 'its copy here, which can be restored from the trash',
  remote_object: 'its object on the remote storage',
} as const;

/** `svc files move|rename-folder|delete`: each shows first what it would do. */
export function fileChangeCommands(files: Command): void {
  moveCommand(files);
  renameFolderCommand(files);
  deleteCommand(files);
}

function moveCommand(files: Command): void {
  runs<MoveOptions>(
    files
      .command('move')
      .description('move or rename a file, within its node or to another one')
      .argument('<node>', 'id, name or path of the node')
      .argument('<path>', 'path of the file within it, or its id')
      .argument('<target>', 'new path, or a folder that ends with a slash')
      .option('--to <node>', 'the node to move it to')
      .option(...YES),
    async ({ out, options, args: [node = '', path = '', target = ''] }) => {
      const client = await connect();
      const nodeId = await resolveNode(client, node);
      const input = {
        node_id: nodeId,
        file_id: await resolveFile(client, nodeId, path),
        ...(options.to === undefined ? {} : { new_node_id: await resolveNode(client, options.to) }),
        ...newPlace(target),
      };
      const change = {
        preview: () => client.call(moveFile, input),
        apply: () => client.call(moveFile, { ...input, confirmed: true }),
        describe: describeMove,
      };
      await confirmed(out, change, options);
    },
  );
}

/** A folder keeps the name of the file. */
function newPlace(target: string) {
  if (!target.endsWith('/')) {
    const { section, subpath, filename } = filePath(target);
    return { new_section: section, new_subpath: subpath, new_filename: filename };
  }
  const { section, subpath } = filePath(`${target}name`);
  return { new_section: section, new_subpath: subpath };
}

function describeMove({ applied, from, to, already_at_target, repair_needed, hint }: Moved): string[] {
  const where = from.node_id === to.node_id ? '' : ` of the node ${to.node_id}`;
  if (already_at_target) return [`${printable(from.path)} is already there.`];
  return [
    `${applied ? 'Moved' : 'Would move'} ${printable(from.path)} to ${printable(to.path)}${where}.`,
    ...repairLines(repair_needed, hint),
  ];
}

function deleteCommand(files: Command): void {
  runs<DeleteOptions>(
    files
      .command('delete')
      .description('delete a file; its content can be restored from the trash for 30 days')
      .argument('<node>', 'id, name or path of the node')
      .argument('<path>', 'path of the file within it, or its id')
      .option('--unregister-only', 'only stop tracking it; the copy on this device stays')
      .option(...YES),
    async ({ out, options, args: [node = '', path = ''] }) => {
      const client = await connect();
      const nodeId = await resolveNode(client, node);
      const mode = options.unregisterOnly ? ('unregister_only' as const) : ('complete' as const);
      const input = { node_id: nodeId, file_id: await resolveFile(client, nodeId, path), mode };
      const change = {
        preview: () => client.call(deleteFile, input),
        apply: () => client.call(deleteFile, { ...input, confirmed: true }),
        describe: describeDelete,
      };
      await confirmed(out, change, options);
    },
  );
}

function describeDelete({ applied, file, removes, trash_id, repair_needed, hint }: Deleted): string[] {
  return [
    `${applied ? 'Removed' : 'Would remove'} for ${printable(file.path)}:`,
    ...indented(removes.map((what) => REMOVED[what])),
    ...(trash_id === null ? [] : [`Restore it with \`svc trash restore ${trash_id}\`.`]),
    ...repairLines(repair_needed, hint),
  ];
}

function renameFolderCommand(files: Command): void {
  runs<ConfirmOptions>(
    files
      .command('rename-folder')
      .description('rename a folder of a node with all files in it')
      .argument('<node>', 'id, name or path of the node')
      .argument('<folder>', 'the folder with its section, such as wip/drafts')
      .argument('<name>', 'its new name with its section, such as wip/letters')
      .option(...YES),
    async ({ out, options, args: [node = '', oldPrefix = '', newPrefix = ''] }) => {
      const client = await connect();
      const input = { node_id: await resolveNode(client, node), old_prefix: oldPrefix, new_prefix: newPrefix };
      const change = {
        preview: () => client.call(renameFolder, input),
        apply: () => renameAll(client, out, { ...input, dry_run: false, limit: LIMITS.renameFolderMax }),
        describe: describeRename,
      };
      await confirmed(out, change, options);
    },
  );
}

/** Goes on until nothing remains, or until what remains stays. */
async function renameAll(
  client: WorkspaceClient,
  out: Output,
  input: Parameters<typeof client.call<typeof renameFolder>>[1],
): Promise<Renamed> {
  const renamed: Renamed['renamed'] = [];
  let remaining = Number.POSITIVE_INFINITY;
  for (;;) {
    const answer = await client.call(renameFolder, input);
    renamed.push(...answer.renamed);
    const isDone = answer.remaining === 0 || answer.remaining >= remaining || answer.repair_needed;
    if (isDone) return { ...answer, renamed };
    remaining = answer.remaining;
    out.note(`  ${counted(remaining, 'file')} remaining …`);
  }
}

function describeRename({ applied, renamed, remaining, repair_needed, hint }: Renamed): string[] {
  const moving = renamed.filter(({ problem }) => problem === null);
  return [
    `${applied ? 'Renamed' : 'Would rename'} ${counted(moving.length, 'file')}:`,
    ...indented(moving.map(({ from, to }) => `${printable(from)} → ${printable(to)}`)),
    ...renamed.flatMap(({ from, problem }) => (problem === null ? [] : [`${printable(from)} stays: ${problem}`])),
    ...(remaining > 0 ? [`${counted(remaining, 'file')} still under the old name.`] : []),
    ...repairLines(repair_needed, hint),
  ];
}

function repairLines(isNeeded: boolean, hint: string | null): string[] {
  return isNeeded ? [`A step failed and will be retried: ${hint ?? 'see svc status'}`] : [];
}
