import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { exportGraph, type ImportReport, listImports } from '@workspace-graph/contracts';
import type { Command } from 'commander';
import type { z } from 'zod';
import { CliError } from '../cli-error.js';
import { type ConfirmOptions, YES_FLAGS } from '../confirm.js';
import type { Output } from '../output.js';
import { runs } from '../run-command.js';
import { requireNewFile, saveBytes } from '../save-bytes.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';

type Report = z.infer<typeof ImportReport>;

interface ImportOptions extends ConfirmOptions {
  readonly dryRun?: boolean;
}

const REPORT_EVERY_MS = 1_000;
/** Taking in more than this takes a while. */
const LARGE_BYTES = 1_000_000;
const DEMO = fileURLToPath(new URL('../../../demo/linden-bakery.json', import.meta.url));

/** `svc import`, `svc export`, `svc demo` */
export function transferCommands(program: Command): void {
  runs<ImportOptions>(
    program
      .command('import')
      .description('import a workspace-graph/1 document; a repeated import changes only what differs')
      .argument('<file>', 'the document, - for standard input')
      .option('--dry-run', 'validate and count only')
      .option(YES_FLAGS, 'continue even if somebody gains access to existing nodes'),
    async ({ out, options, args }) => {
      const client = await connect();
      out.note('Importing …');
      showReport(out, await importFile(client, args[0] ?? '-', options, out), options);
    },
  );

  runs<ConfirmOptions>(
    program
      .command('export')
      .description('write the whole graph as a workspace-graph/1 document')
      .argument('<file>', 'file to write, - for standard output')
      .option(YES_FLAGS, 'replace an existing file'),
    async ({ out, args: [file = '-'], options }) => {
      await requireNewFile(file, options);
      const client = await connect();
      const bytes = await exportTo(client, file);
      if (file !== '-') out.result({ file, bytes }, [`Wrote ${file} (${bytes} bytes).`]);
    },
  );

  runs(program.command('demo').description('fill the workspace with a sample organisation'), async ({ out }) => {
    const client = await connect();
    showReport(out, await importFile(client, DEMO, {}, out), {});
    out.note(
      'Try: svc mirror create "Second oven" creates its folder, svc open shows the workspace; or ask your agent about bread.',
    );
  });
}

async function importFile(client: WorkspaceClient, file: string, options: ImportOptions, out: Output): Promise<Report> {
  const document = file === '-' ? process.stdin : await openDocument(file);
  const flags = new URLSearchParams({
    dry_run: String(options.dryRun ?? false),
    confirmed: String(options.yes ?? false),
  });
  const sent = new AbortController();
  const told = reportingProgress(document, out, () => void reportStages(client, out, sent.signal));
  const answering = client.upload(`/import?${flags}`, told).finally(() => sent.abort());
  return (await (await answering).json()) as Report;
}

/** Tells how far the workspace is, until the answer is there. What cannot be asked is not told. */
async function reportStages(client: WorkspaceClient, out: Output, answered: AbortSignal): Promise<void> {
  let told = '';
  while (!answered.aborted) {
    await sleep(REPORT_EVERY_MS, undefined, { signal: answered }).catch(() => undefined);
    const running = answered.aborted ? null : await client.call(listImports, {}).catch(() => null);
    const { stage, percent } = running?.items.at(-1) ?? {};
    const line = stage === undefined ? told : `  ${stage}: ${percent} % …`;
    if (line !== told && !answered.aborted) out.note(line);
    told = line;
  }
}

/** Tells once in a while how much has been sent, so that whoever waits sees that something happens. */
async function* reportingProgress(
  document: AsyncIterable<Uint8Array>,
  out: Output,
  whenSent: () => void,
): AsyncGenerator<Uint8Array> {
  let [bytes, reportAtMs] = [0, performance.now() + REPORT_EVERY_MS];
  const sent = (): string => `${(bytes / 1_000_000).toFixed(1)} MB sent`;
  for await (const chunk of document) {
    bytes += chunk.byteLength;
    if (performance.now() > reportAtMs) {
      out.note(`  ${sent()} …`);
      reportAtMs = performance.now() + REPORT_EVERY_MS;
    }
    yield chunk;
  }
  if (bytes > LARGE_BYTES) out.note(`  ${sent()}; the workspace checks and imports them …`);
  whenSent();
}

async function openDocument(file: string): Promise<Readable> {
  const found = await stat(file).catch((cause: NodeJS.ErrnoException) => {
    throw new CliError(
      'FILE_UNREADABLE',
      `${file} cannot be read: ${cause.code === 'ENOENT' ? 'there is no such file' : cause.message}.`,
      { cause },
    );
  });
  if (!found.isFile()) throw new CliError('FILE_UNREADABLE', `${file} is not a file.`);
  return createReadStream(file);
}

async function exportTo(client: WorkspaceClient, file: string): Promise<number> {
  const response = await client.fetch(exportGraph.rest?.path ?? '');
  if (!response.body) throw new CliError('UNEXPECTED_ANSWER', 'The workspace answered without a document.');
  return saveBytes(response, file);
}

/** Who would see or change more of what is there already. */
function gainsOf({ preview }: Report): string[] {
  if (!preview?.widens) return [];
  const people = preview.gains.map((gain) => `  ${gain.user_name} gains access to ${gain.node_count} nodes`);
  const opened = preview.opens_to_everyone > 0 ? [`  ${preview.opens_to_everyone} nodes open to everyone`] : [];
  return ['Access widens:', ...opened, ...people];
}

function showReport(out: Output, report: Report, options: ImportOptions): void {
  const kinds = [
    ...new Set([report.created, report.updated, report.unchanged].flatMap((counts) => Object.keys(counts))),
  ];
  const lines = kinds.map(
    (kind) =>
      `  ${kind}: ${report.created[kind] ?? 0} new, ${report.updated[kind] ?? 0} changed, ${report.unchanged[kind] ?? 0} unchanged`,
  );
  const waits = !(report.applied || options.dryRun);
  out.result(report, [
    report.applied ? 'Imported:' : 'The document is valid. An import would have this result:',
    ...lines,
    ...gainsOf(report),
    ...(waits ? ['Nothing was changed: add --yes to give these people access.'] : []),
  ]);
}
