import { resolve } from 'node:path';
import {
  EXPORT_FORMATS,
  type ExportFormat,
  FileStatus,
  LIMITS,
  type OutputOf,
  PULL_CLASSES,
  pullFile,
  pullFiles,
  snapshotDocument,
  storeFile,
  storeFiles,
} from '@workspace-graph/contracts';
import type { Command } from 'commander';
import { Option } from 'commander';
import { EXIT } from '../codes.js';
import type { Output } from '../output.js';
import { resolveFile } from '../resolve-file.js';
import { resolveNode } from '../resolve-node.js';
import { runs } from '../run-command.js';
import { printable } from '../text.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';

interface StoreOptions {
  readonly status?: FileStatus;
  readonly subpath?: string;
}
interface PullOptions {
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

interface SnapshotOptions {
  readonly format: ExportFormat;
  readonly name?: string;
  readonly subpath?: string;
}

type Preview = NonNullable<OutputOf<typeof pullFile>['preview']>;
type Previewed = Preview['files'][number];

type Stored = Omit<OutputOf<typeof storeFiles>['stored'][number], 'given'>;
type Pulled = OutputOf<typeof pullFiles>['pulled'][number];

/** What was refused of one of several files. */
interface Failure {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

interface Results<T> {
  readonly done: readonly T[];
  readonly failed: readonly Failure[];
}

/** What a preview says of files that are left as they are. */
const LEFT: Readonly<Record<(typeof PULL_CLASSES)[number], string | null>> = {
  unchanged: null,
  updated: null,
  conflict: 'changed here and not uploaded: store it, or pull it with --force',
  remote_missing: 'nothing lies on the remote',
  remote_error: 'the remote cannot be asked',
  native: 'a document of a cloud service',
};

const DELETED_HERE = 'deleted here: pull it by its path to have it back, or delete it with `svc files delete`';

/** `svc files store`, `svc files pull`, `svc files snapshot`: between the folders of a workstation and the storage of its organisation. */
export function fileTransferCommands(files: Command): void {
  storeCommand(files);
  pullCommand(files);
  snapshotCommand(files);
}

function snapshotCommand(files: Command): void {
  runs<SnapshotOptions>(
    files
      .command('snapshot')
      .description('export a document of a cloud service, such as Google Docs, as a file of a node')
      .argument('<node>', 'id, name or path of the node that gets the file')
      .argument('<url>', 'address of the document; it contains /d/ID/')
      .addOption(new Option('--format <format>', 'format of the file').choices(EXPORT_FORMATS).default('pdf'))
      .option('--name <filename>', 'name of the file, with its extension; default: snapshot- and the time')
      .option('--subpath <folder>', 'folder within wip'),
    async ({ out, options: { format, name, subpath }, args: [node = '', url = ''] }) => {
      const client = await connect();
      const made = await client.call(snapshotDocument, {
        node_id: await resolveNode(client, node),
        doc_url: url,
        format,
        ...(name === undefined ? {} : { filename: name }),
        ...(subpath === undefined ? {} : { subpath }),
      });
      out.result(made, [printable(made.local_path ?? made.remote_path)]);
    },
  );
}

function storeCommand(files: Command): void {
  runs<StoreOptions>(
    files
      .command('store')
      .description(
        'upload files of this workstation, copying them into the folder of the node where they are not in it',
      )
      .argument('<node>', 'id, name or path of the node')
      .argument('<files...>', 'the files')
      .addOption(
        new Option('--status <status>', 'section of files from outside the folder; default: wip').choices(
          FileStatus.options,
        ),
      )
      .option('--subpath <folder>', 'folder within the section, for files from outside'),
    async ({ out, options, args: [node = '', ...sources] }) => {
      const client = await connect();
      const node_id = await resolveNode(client, node);
      const { status, subpath } = options;
      const place = { ...(status === undefined ? {} : { status }), ...(subpath === undefined ? {} : { subpath }) };
      const local_paths = sources.map((source) => resolve(source));
      const { done, failed } = await storeAll({ client, out }, { node_id, local_paths, ...place });
      out.result({ stored: done, failed }, [
        ...done.map(({ remote_name, remote_path }) => `stored   ${printable(remote_path)} on ${remote_name}`),
        ...failed.map(failureLine),
      ]);
      failIfAny(failed);
    },
  );
}

function pullCommand(files: Command): void {
  runs<PullOptions>(
    files
      .command('pull')
      .description('bring what the remote has of files into the folder of their node')
      .argument('<node>', 'id, name or path of the node')
      .argument('[paths...]', 'paths within it, or ids; default: every file that is newer on the remote')
      .option('--force', 'also replace what was changed here and not uploaded; it goes to the trash')
      .option('--dry-run', 'tell what would be done, and do nothing'),
    async ({ out, options, args: [node = '', ...paths] }) => {
      const client = await connect();
      const nodeId = await resolveNode(client, node);
      const preview = paths.length === 0 ? await previewOf(client, nodeId) : null;
      const wanted = await wantedOf({ client, nodeId, paths, preview, force: options.force ?? false });
      const left = preview?.files.filter((file) => !wanted.has(file.file_id)) ?? [];
      const notes = left.flatMap((file) => leftLine(file) ?? []);
      if (options.dryRun) {
        const lines = [...wanted.values()].map((name) => `would pull  ${printable(name)}`);
        return out.result({ would_pull: [...wanted.keys()], left }, [...lines, ...notes, ...nothing(lines, notes)]);
      }
      const isNamed = preview === null;
      const pulling = { nodeId, wanted, force: options.force ?? false, isNamed };
      const { done, failed } = await pullAll({ client, out }, pulling);
      const lines = done.map(
        ({ file_id, changed }) => `${changed ? 'pulled ' : 'as here'}  ${printable(wanted.get(file_id) ?? '')}`,
      );
      out.result({ pulled: done, failed, left }, [
        ...lines,
        ...failed.map(failureLine),
        ...notes,
        ...nothing([...lines, ...failed], notes),
      ]);
      failIfAny(failed);
    },
  );
}

async function previewOf(client: WorkspaceClient, node_id: string): Promise<Preview> {
  const { preview } = await client.call(pullFile, { node_id });
  return preview ?? { node_id, files: [], complete: true };
}

/** Names by the ids of what is to be pulled. */
async function wantedOf({
  client,
  nodeId,
  paths,
  preview,
  force,
}: {
  readonly client: WorkspaceClient;
  readonly nodeId: string;
  readonly paths: readonly string[];
  readonly preview: Preview | null;
  readonly force: boolean;
}): Promise<Map<string, string>> {
  const wanted = new Map<string, string>();
  for (const path of paths) wanted.set(await resolveFile(client, nodeId, path), path);
  if (paths.length > 0) return wanted;
  for (const file of preview?.files ?? [])
    if (isNewer(file) || (force && file.class === 'conflict')) wanted.set(file.file_id, file.path);
  return wanted;
}

interface Asking {
  readonly client: WorkspaceClient;
  readonly out: Output;
}

/** One file alone is refused as what it is; of several, what is refused of one keeps no other from going on. */
async function storeAll(
  { client, out }: Asking,
  { local_paths, ...place }: Parameters<typeof client.call<typeof storeFiles>>[1],
): Promise<Results<Stored>> {
  const [only = '', ...others] = local_paths;
  if (others.length === 0) return { done: [await client.call(storeFile, { local_path: only, ...place })], failed: [] };
  const done: Stored[] = [];
  const failed: Failure[] = [];
  for (const part of partsOf(local_paths)) {
    const { stored, refused } = await client.call(storeFiles, { local_paths: part, ...place });
    done.push(...stored.map(({ given: _given, ...file }) => file));
    failed.push(...refused.map(({ given: name, code, message }) => ({ name, code, message })));
    tellHowFar(out, done.length + failed.length, local_paths.length);
  }
  return { done, failed };
}

interface Pulling {
  readonly nodeId: string;
  readonly wanted: Map<string, string>;
  readonly force: boolean;
  /** What was found to be newer is told of beside what is left, also where it is one file. */
  readonly isNamed: boolean;
}

async function pullAll({ client, out }: Asking, { nodeId, wanted, force, isNamed }: Pulling): Promise<Results<Pulled>> {
  const ids = [...wanted.keys()];
  const [only = '', ...others] = ids;
  if (isNamed && ids.length > 0 && others.length === 0) {
    const { pulled } = await client.call(pullFile, { file_id: only, force });
    return { done: pulled ? [pulled] : [], failed: [] };
  }
  const done: Pulled[] = [];
  const failed: Failure[] = [];
  for (const file_ids of partsOf(ids)) {
    const { pulled, refused } = await client.call(pullFiles, { node_id: nodeId, file_ids, force });
    done.push(...pulled);
    failed.push(
      ...refused.map(({ file_id, code, message }) => ({ name: wanted.get(file_id) ?? file_id, code, message })),
    );
    tellHowFar(out, done.length + failed.length, ids.length);
  }
  return { done, failed };
}

function partsOf<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / LIMITS.filesPerBatch);
  return Array.from({ length: count }, (_none, index) =>
    items.slice(index * LIMITS.filesPerBatch, (index + 1) * LIMITS.filesPerBatch),
  );
}

function tellHowFar(out: Output, done: number, all: number): void {
  if (all > LIMITS.filesPerBatch) out.note(`${done.toLocaleString('en-US')} of ${all.toLocaleString('en-US')} files`);
}

function failureLine({ name, message }: Failure): string {
  return `refused  ${printable(`${name}: ${message}`)}`;
}

/** What somebody deleted here, and nobody changed since, is not brought back unasked. */
function isNewer({ class: name, deleted_here = false }: Previewed): boolean {
  return name === 'updated' && !deleted_here;
}

function leftLine({ path, class: name, message, deleted_here = false }: Previewed): string | null {
  const reason = message ?? (deleted_here ? DELETED_HERE : LEFT[name]);
  return reason === null ? null : `left     ${printable(`${path}: ${reason}`)}`;
}

function nothing(lines: readonly unknown[], notes: readonly string[]): string[] {
  return lines.length + notes.length === 0 ? ['Nothing to pull.'] : [];
}

/** What was done is told all the same. */
function failIfAny(failed: readonly unknown[]): void {
  if (failed.length > 0) process.exitCode = EXIT.failed;
}
