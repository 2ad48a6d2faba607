import { resolve } from 'node:path';
import { FileStatus, type OutputOf, PULL_CLASSES, pullFile, storeFile } from '@workspace-graph/contracts';
import type { Command } from 'commander';
import { Option } from 'commander';
import { CliError } from '../cli-error.js';
import { EXIT } from '../codes.js';
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

type Preview = NonNullable<OutputOf<typeof pullFile>['preview']>;
type Previewed = Preview['files'][number];

/** What one of several files came to. */
type Outcome<T> = { readonly name: string; readonly done: T } | { readonly name: string; readonly error: CliError };

/** What a preview says of files that are left as they are. */
const LEFT: Readonly<Record<(typeof PULL_CLASSES)[number], string | null>> = {
  unchanged: null,
  updated: null,
  conflict: 'changed here and on the remote: store it, or pull it with --force',
  remote_missing: 'nothing lies on the remote',
  remote_error: 'the remote cannot be asked',
  native: 'a document of a cloud service',
};

/** `svc files store`, `svc files pull`: between the folders of a workstation and the storage of its organisation. */
export function fileTransferCommands(files: Command): void {
  storeCommand(files);
  pullCommand(files);
}

function storeCommand(files: Command): void {
  runs<StoreOptions>(
    files
      .command('store')
      .description(
        'upload files of this workstation, copying them into the folder of the node where they are not in it',
      )
      .argument('<node>', 'id or name of the node')
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
      const outcomes = await each(sources, (source) =>
        client.call(storeFile, { node_id, local_path: resolve(source), ...place }),
      );
      const { done, failed } = told(outcomes);
      out.result({ stored: done, failed: failed.map(failureOf) }, [
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
      .argument('<node>', 'id or name of the node')
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
      const outcomes = await each(
        [...wanted],
        async ([file_id]) => {
          const { pulled } = await client.call(pullFile, { file_id, force: options.force ?? false });
          return pulled;
        },
        ([, name]) => name,
      );
      const { done, failed, names } = told(outcomes);
      const lines = done.map(
        (pulled, index) => `${pulled?.changed ? 'pulled ' : 'as here'}  ${printable(names[index] ?? '')}`,
      );
      out.result({ pulled: done, failed: failed.map(failureOf), left }, [
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
    if (file.class === 'updated' || (force && file.class === 'conflict')) wanted.set(file.file_id, file.path);
  return wanted;
}

/** One after the other: what is refused of one keeps no other from going on. @throws what is no refusal of the workspace */
async function each<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  nameOf: (item: T) => string = String,
): Promise<Outcome<R>[]> {
  const outcomes: Outcome<R>[] = [];
  for (const item of items) {
    const name = nameOf(item);
    try {
      outcomes.push({ name, done: await work(item) });
    } catch (error) {
      if (!(error instanceof CliError) || error.status === null || items.length === 1) throw error;
      outcomes.push({ name, error });
    }
  }
  return outcomes;
}

function told<T>(outcomes: readonly Outcome<T>[]) {
  const done = outcomes.filter((outcome) => 'done' in outcome);
  const failed = outcomes.filter((outcome) => 'error' in outcome);
  return { done: done.map((outcome) => outcome.done), names: done.map(({ name }) => name), failed };
}

function failureOf({ name, error: { code, message } }: { readonly name: string; readonly error: CliError }) {
  return { name, code, message };
}

function failureLine({ name, error }: { readonly name: string; readonly error: CliError }): string {
  return `refused  ${printable(`${name}: ${error.message}`)}`;
}

function leftLine({ path, class: name, message }: Previewed): string | null {
  const reason = message ?? LEFT[name];
  return reason === null ? null : `left     ${printable(`${path}: ${reason}`)}`;
}

function nothing(lines: readonly unknown[], notes: readonly string[]): string[] {
  return lines.length + notes.length === 0 ? ['Nothing to pull.'] : [];
}

/** What was done is told all the same. */
function failIfAny(failed: readonly unknown[]): void {
  if (failed.length > 0) process.exitCode = EXIT.failed;
}
