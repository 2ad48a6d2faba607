import { setTimeout as sleep } from 'node:timers/promises';
import { getSyncHealth, getSyncStatus } from '@workspace-graph/contracts';
import type { Command } from 'commander';
import type { Output } from '../output.js';
import { resolveNode } from '../resolve-node.js';
import { runs } from '../run-command.js';
import { counted } from '../text.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';
import { failureText, progressText } from './status.js';

interface WatchOptions {
  readonly untilQuiet?: boolean;
}

/** What is followed, of one node or of all that are visible. */
interface Picture {
  readonly files: number;
  readonly scans: readonly { readonly name: string; readonly seen: number; readonly to_read: number }[];
  readonly failures: readonly Failure[];
}
interface Failure {
  readonly name: string;
  readonly path: string;
  readonly message: string;
  readonly at: string;
}

const POLL_MS = 500;
/** A change on disk waits a moment before its scan begins, so one quiet look is not enough. */
const QUIET_LOOKS = 3;
const CLEAR_LINE = '\r\u001b[K';

const EXAMPLES = `
Ctrl-C stops it. With --json each change is one line.

Examples:
  svc watch                          everything
  svc watch "Second oven"            one node
  svc watch --until-quiet --json     until all scans have ended, for scripts`;

/** `svc watch` */
export function watchCommand(program: Command): void {
  runs<WatchOptions>(
    program
      .command('watch')
      .description('show scans of folders and files that could not be tracked, as they happen')
      .argument('[node]', 'only this node, by id, name or path')
      .option('--until-quiet', 'exit when no scan is running')
      .addHelpText('after', EXAMPLES),
    async ({ out, options, args: [node] }) => {
      const client = await connect();
      const nodeId = node === undefined ? null : await resolveNode(client, node);
      await follow(out, nodeId === null ? () => all(client) : () => one(client, nodeId, node ?? nodeId), options);
    },
  );
}

async function all(client: WorkspaceClient): Promise<Picture> {
  const { files, scans, failures } = await client.call(getSyncHealth, {});
  return {
    files,
    scans: scans.map(({ node, seen, to_read }) => ({ name: node.name, seen, to_read })),
    failures: failures.map(({ node, path, message, at }) => ({ name: node.name, path, message, at })),
  };
}

async function one(client: WorkspaceClient, node_id: string, name: string): Promise<Picture> {
  const { tracked, scan, watcher_errors } = await client.call(getSyncStatus, { node_id });
  const scans = scan.running ? [{ name, seen: scan.seen, to_read: scan.to_read }] : [];
  return { files: tracked, scans, failures: watcher_errors.map((error) => ({ name, ...error })) };
}

/** Looks again and again until it is interrupted, its reader has left, or everything is quiet. */
async function follow(out: Output, look: () => Promise<Picture>, { untilQuiet }: WatchOptions): Promise<void> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  process.stdout.once('error', end);
  const screen = new Screen(out.json);
  let quietLooks = 0;
  try {
    while (!ended.signal.aborted) {
      const picture = await look();
      screen.show(picture);
      quietLooks = picture.scans.length === 0 ? quietLooks + 1 : 0;
      if (untilQuiet && quietLooks >= QUIET_LOOKS) return;
      await sleep(POLL_MS, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  } finally {
    screen.close();
    process.off('SIGINT', end);
    process.off('SIGTERM', end);
    process.stdout.off('error', end);
  }
}

/** Tells what is new: lines for what lasts, and on a terminal one line for what changes. */
class Screen {
  private readonly isTerminal = process.stdout.isTTY;
  private last = '';
  private failures = new Map<string, Failure>();

  constructor(private readonly json: boolean) {}

  show(picture: Picture): void {
    if (this.json) return this.writeChanged(`${JSON.stringify(picture)}\n`);
    this.showFailures(picture.failures);
    const line = pictureLine(picture);
    this.writeChanged(this.isTerminal ? CLEAR_LINE + line : `${line}\n`);
  }

  close(): void {
    if (this.isTerminal && !this.json) process.stdout.write('\n');
  }

  private writeChanged(text: string): void {
    if (text !== this.last) process.stdout.write(text);
    this.last = text;
  }

  private showFailures(failures: readonly Failure[]): void {
    const now = new Map(failures.map((failure) => [`${failure.name}\n${failure.path}\n${failure.message}`, failure]));
    for (const [key, failure] of now) if (!this.failures.has(key)) this.report('cannot be tracked', failure);
    for (const [key, failure] of this.failures) if (!now.has(key)) this.report('resolved', failure);
    this.failures = now;
  }

  private report(what: string, { name, path, message }: Failure): void {
    process.stdout.write(`${this.isTerminal ? CLEAR_LINE : ''}${what}  ${name}: ${failureText(path, message)}\n`);
    this.last = '';
  }
}

function pictureLine({ files, scans, failures }: Picture): string {
  const [first, ...others] = scans;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  const state = first ? `scanning ${first.name}: ${progressText(first)}${more}` : 'no scan running';
  return `${counted(files, 'tracked file')}, ${counted(failures.length, 'failure')}, ${state}`;
}
