import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import {
  adoptFiles,
  FileStatus,
  LIMITS,
  listFiles,
  searchFiles,
  type TrackedFile,
  type WrittenFile,
} from '@workspace-graph/contracts';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { z } from 'zod';
import { CliError } from '../cli-error.js';
import { type ConfirmOptions, YES_FLAGS } from '../confirm.js';
import { table } from '../output.js';
import { wholeNumber } from '../parse-options.js';
import { filePath } from '../resolve-file.js';
import { resolveNode } from '../resolve-node.js';
import { runs } from '../run-command.js';
import { requireNewFile, saveBytes } from '../save-bytes.js';
import { counted, printable } from '../text.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';
import { fileChangeCommands } from './file-changes.js';
import { fileTransferCommands } from './file-transfers.js';

interface ListOptions {
  readonly status?: FileStatus;
  readonly limit: number;
}
interface ReadOptions extends ConfirmOptions {
  readonly output: string;
}
interface CreateOptions {
  readonly text?: string;
}
interface PutOptions {
  readonly replace?: boolean;
}
interface AdoptOptions {
  readonly status: FileStatus;
}
interface SearchOptions {
  readonly node?: string;
  readonly limit: number;
}

const EXAMPLES = `
NODE is the id of a node, or its whole name. PATH is a path within the node: section, folders, name.
The sections are wip, outputs and resources; a path without a section is in wip.

Examples:
  svc files list "Second oven"
  svc files read "Second oven" wip/plan.md
  svc files put "Second oven" ./offer.pdf resources/offers/
  svc files store "Second oven" ./offer.pdf --status output
  svc files pull "Second oven"
  svc files move "Second oven" wip/plan.md outputs/plan.md
  svc files search '"bread oven"'`;

/** `svc files …` */
export function fileCommands(program: Command): void {
  const files = program
    .command('files')
    .description('list, read, write, move and search files of nodes')
    .addHelpText('after', EXAMPLES);
  listCommand(files);
  readCommand(files);
  createCommand(files);
  putCommand(files);
  fileTransferCommands(files);
  fileChangeCommands(files);
  adoptCommand(files);
  searchCommand(files);
}

function listCommand(files: Command): void {
  runs<ListOptions>(
    files
      .command('list')
      .description('list tracked files, newest first')
      .argument('[node]', 'only of this node')
      .addOption(new Option('--status <status>', 'only files under wip, or under outputs').choices(FileStatus.options))
      .option('--limit <number>', 'maximum number of files to list', wholeNumber, LIMITS.filesDefault),
    async ({ out, options, args }) => {
      const client = await connect();
      const nodeId = args[0] === undefined ? undefined : await resolveNode(client, args[0]);
      const { items, isComplete, isStale } = await filesOf(client, nodeId, options);
      if (isStale)
        out.note('The central workspace cannot be reached: these are the files as this device last saw them.');
      out.result({ items, complete: isComplete, stale: isStale }, [
        ...table([['PATH', 'NODE', 'BYTES', 'CHANGED', 'ID'], ...items.map(fileRow)]),
        ...(isComplete ? [] : ['There are more; increase --limit to list them.']),
      ]);
    },
  );
}

async function filesOf(
  client: WorkspaceClient,
  nodeId: string | undefined,
  { status, limit }: ListOptions,
): Promise<{ items: TrackedFile[]; isComplete: boolean; isStale: boolean }> {
  const items: TrackedFile[] = [];
  let isStale = false;
  let cursor: string | undefined;
  do {
    const page = await client.call(listFiles, {
      ...(nodeId === undefined ? {} : { node_id: nodeId }),
      ...(status === undefined ? {} : { status }),
      ...(cursor === undefined ? {} : { cursor }),
      limit: Math.min(limit - items.length, LIMITS.filesMax),
    });
    items.push(...page.items);
    isStale ||= page.stale ?? false;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  return { items, isComplete: cursor === undefined, isStale };
}

function fileRow(file: TrackedFile): string[] {
  const bytes = file.size_bytes === null ? '?' : String(file.size_bytes);
  return [printable(file.path), file.node_name, bytes, (file.modified_at ?? file.updated_at).slice(0, 16), file.id];
}

function readCommand(files: Command): void {
  runs<ReadOptions>(
    files
      .command('read')
      .description('write the content of a file to standard output, byte for byte')
      .argument('<node>', 'id, name or path of the node')
      .argument('<path>', 'path of the file within it')
      .option('--output <file>', 'file to write to, - for standard output', '-')
      .option(YES_FLAGS, 'replace an existing file'),
    async ({ out, options, args: [node = '', path = ''] }) => {
      await requireNewFile(options.output, options);
      const client = await connect();
      const nodeId = await resolveNode(client, node);
      const response = await client.fetch(`${contentUrl(nodeId, filePath(path).path)}&raw=true`);
      const bytes = await saveBytes(response, options.output);
      const value = { file: options.output, bytes, sha256: response.headers.get('etag')?.replaceAll('"', '') ?? null };
      if (options.output !== '-') out.result(value, [`Wrote ${options.output} (${counted(bytes, 'byte')}).`]);
    },
  );
}

function createCommand(files: Command): void {
  runs<CreateOptions>(
    files
      .command('create')
      .description('create a file; an existing file is never overwritten')
      .argument('<node>', 'id, name or path of the node')
      .argument('<path>', 'path of the new file within it')
      .option('--text <text>', 'content; default: empty'),
    async ({ out, options, args: [node = '', path = ''] }) => {
      const client = await connect();
      const nodeId = await resolveNode(client, node);
      const { section, subpath, filename } = filePath(path);
      const response = await client.fetch(`/nodes/${nodeId}/files`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ filename, section, subpath, content: options.text ?? '' }),
      });
      const file = (await response.json()) as TrackedFile;
      out.result(file, [`Created ${file.path}.`, ...(file.local_path === null ? [] : [file.local_path])]);
    },
  );
}

function putCommand(files: Command): void {
  runs<PutOptions>(
    files
      .command('put')
      .description('upload a file of any size to a node')
      .argument('<node>', 'id, name or path of the node')
      .argument('<file>', 'the file, - for standard input')
      .argument('[path]', 'path within the node, or a folder that ends with a slash; default: wip/')
      .option('--replace', 'replace the content of an existing file'),
    async ({ out, options, args: [node = '', source = '', target = 'wip/'] }) => {
      const client = await connect();
      const nodeId = await resolveNode(client, node);
      const url = contentUrl(nodeId, targetPath(source, target));
      const condition = options.replace ? await contentNow(client, url) : null;
      const response = await client.fetch(url, {
        method: 'PUT',
        headers: {
          'content-type': 'application/octet-stream',
          ...(condition === null ? { 'if-none-match': '*' } : { 'if-match': condition }),
        },
        body: await bytesOf(source),
        duplex: 'half',
      });
      const written = (await response.json()) as z.infer<typeof WrittenFile>;
      const { path, size_bytes } = written.file;
      const did = condition === null ? 'Put' : 'Replaced';
      out.result(written, [`${did} ${path} (${counted(size_bytes ?? 0, 'byte')}).`]);
    },
  );
}

function targetPath(source: string, target: string): string {
  if (!target.endsWith('/')) return filePath(target).path;
  if (source === '-')
    throw new CliError('PATH_INVALID', 'Standard input has no name: give the path of the file, with its name.', {});
  return filePath(target + basename(source)).path;
}

/** The content that a replacement builds on; null when there is none yet. */
async function contentNow(client: WorkspaceClient, url: string): Promise<string | null> {
  const content = `${url}&raw=true`;
  try {
    return (await client.fetch(content, { method: 'HEAD' })).headers.get('etag');
  } catch (error) {
    if (!(error instanceof CliError) || error.status === null) throw error;
    if (error.status === 404) return null;
    // An answer to HEAD has no body that could tell what is in the way.
    const response = await client.fetch(content, { headers: { range: 'bytes=0-0' } });
    await response.body?.cancel();
    return response.headers.get('etag');
  }
}

async function bytesOf(source: string): Promise<ReadableStream<Uint8Array>> {
  if (source === '-') return Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const found = await stat(source).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'there is no such file' : cause.message;
    throw new CliError('FILE_UNREADABLE', `${source} cannot be read: ${reason}.`, { cause });
  });
  if (!found.isFile()) throw new CliError('FILE_UNREADABLE', `${source} is not a file.`);
  return Readable.toWeb(createReadStream(source)) as ReadableStream<Uint8Array>;
}

function adoptCommand(files: Command): void {
  runs<AdoptOptions>(
    files
      .command('adopt')
      .description('track files in the folder of a node, or on its remote, that are not tracked yet')
      .argument('<node>', 'id, name or path of the node')
      .argument('<paths...>', 'paths within it')
      .addOption(
        new Option('--status <status>', 'section of paths that do not name one')
          .choices(FileStatus.options)
          .default('wip'),
      ),
    async ({ out, options, args: [node = '', ...paths] }) => {
      const client = await connect();
      const nodeId = await resolveNode(client, node);
      const { files: adopted, skipped } = await client.call(adoptFiles, {
        node_id: nodeId,
        paths,
        status: options.status,
      });
      out.result({ files: adopted, skipped }, [
        ...adopted.map(({ path }) => `tracked  ${printable(path)}`),
        ...skipped.map(({ path, reason }) => `skipped  ${printable(`${path}: ${reason}`)}`),
      ]);
    },
  );
}

function searchCommand(files: Command): void {
  runs<SearchOptions>(
    files
      .command('search')
      .description('search names and texts of files by whole words; "quotes" search for a phrase')
      .argument('<query...>', 'the words')
      .option('--node <node>', 'only in this node')
      .option('--limit <number>', 'maximum number of files to find', wholeNumber, LIMITS.fileHitsDefault),
    async ({ out, options, args }) => {
      const client = await connect();
      const nodeId = options.node === undefined ? undefined : await resolveNode(client, options.node);
      const answer = await client.call(searchFiles, {
        query: args.join(' '),
        limit: options.limit,
        ...(nodeId === undefined ? {} : { node_id: nodeId }),
      });
      out.result(answer, [
        ...answer.hits.flatMap(({ path, node_name, snippet }) => [
          `${printable(path)}  (${node_name})`,
          ...(snippet === null ? [] : [`    ${printable(snippet.replaceAll(/\s+/g, ' '))}`]),
        ]),
        ...(answer.hits.length === 0 ? ['No files found.'] : []),
        ...(answer.complete ? [] : ['There are more; --limit accepts up to 50.']),
      ]);
      if (answer.indexing > 0) out.note(`${counted(answer.indexing, 'file')} not indexed for the search yet.`);
    },
  );
}

function contentUrl(nodeId: string, path: string): string {
  return `/nodes/${nodeId}/file?path=${encodeURIComponent(path)}`;
}
