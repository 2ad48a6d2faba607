import stringWidth from 'fast-string-width';
import type { CliError } from './cli-error.js';
import { withCommandName } from './command-name.js';
import { jsonText, legible, printable } from './text.js';

/** How a command shows what it did: for people, or with --json as one JSON value on standard output. */
export class Output {
  constructor(readonly json: boolean) {}

  /** The result: `lines` for people, `value` for --json. */
  result(value: unknown, lines: readonly string[]): void {
    process.stdout.write(`${this.json ? jsonText(value, 2) : legible(withCommandName(lines.join('\n')))}\n`);
  }

  /** The same, once its reader has it. @throws when there is none any more */
  async resultWritten(value: unknown, lines: readonly string[]): Promise<void> {
    this.result(value, lines);
    await new Promise<void>((resolve, reject) =>
      process.stdout.write('', (error) => (error ? reject(error) : resolve())),
    );
  }

  /** Progress and remarks go to standard error, so that results can be piped. */
  note(line: string): void {
    if (!this.json) process.stderr.write(`${legible(withCommandName(line))}\n`);
  }

  failure(error: CliError): void {
    if (this.json) {
      process.stdout.write(`${jsonText(error.toJson(), 2)}\n`);
      return;
    }
    const issues = issuesOf(error);
    process.stderr.write(
      issues.length > 1 ? 'svc: the input is not valid:\n' : `svc: ${legible(withCommandName(error.message))}\n`,
    );
    for (const issue of issues.length > 1 ? issues : [])
      process.stderr.write(`  ${printable(`${issue.path || '(whole document)'}: ${issue.message}`)}\n`);
    for (const line of detailsOf(error)) process.stderr.write(`     ${printable(line)}\n`);
    if (error.options.hint) process.stderr.write(`     ${withCommandName(error.options.hint)}\n`);
    if (error.options.body) process.stderr.write(`     ${error.code}, request ${error.options.body.request_id}\n`);
  }
}

/** Whether an output failed only because its reader has seen enough and left, as `head` does. */
export function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

/** Standard output that cannot be written any more. Whoever hears the errors of the stream says why. */
export class BrokenOutput extends Error {
  constructor(cause: Error) {
    super('The output cannot be written', { cause });
    this.name = 'BrokenOutput';
  }
}

/** Resolves when its reader has taken it. @throws BrokenOutput also when the reader has seen enough and left */
export function writeOut(chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(chunk, (error) => (error ? reject(new BrokenOutput(error)) : resolve()));
  });
}

/** Columns padded to equal width as a terminal shows them, two spaces apart; whatever a cell says, it is in one line. */
export function table(texts: readonly (readonly string[])[]): string[] {
  const rows = texts.map((row) => row.map(printable));
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(cell))))
      .join('  ')
      .trimEnd(),
  );
}

const SHOWN_ISSUES = 50;
const SHOWN_DETAILS = 20;
const DETAIL_LENGTH = 200;
/** Told in another way, or repeated in the message. */
const TOLD_ALREADY = ['issues', 'current', 'node_id', 'file_id', 'path'];

/** What an error object tells beside its message, a line each. */
function detailsOf({ options: { body } }: CliError): string[] {
  const details = Object.entries(body?.details ?? {}).filter(([name]) => !TOLD_ALREADY.includes(name));
  const lines = details.flatMap(([name, value]) =>
    [value]
      .flat()
      .map((item) => `${name.replaceAll('_', ' ')}: ${typeof item === 'string' ? item : JSON.stringify(item)}`),
  );
  return lines.slice(0, SHOWN_DETAILS).map((line) => line.slice(0, DETAIL_LENGTH));
}

function issuesOf(error: CliError): { path: string; message: string }[] {
  const issues: unknown = error.options.body?.details?.['issues'];
  if (!Array.isArray(issues)) return [];
  const shown = issues.slice(0, SHOWN_ISSUES) as { path: string; message: string }[];
  const rest = issues.length - shown.length;
  return rest > 0 ? [...shown, { path: '…', message: `and ${rest} more; --json shows all` }] : shown;
}
