import { createInterface } from 'node:readline/promises';
import { EXIT } from './codes.js';
import type { Output } from './output.js';

/** A change that is shown before it happens. */
export interface ConfirmedChange<T> {
  readonly preview: () => Promise<T>;
  readonly apply: () => Promise<T>;
  readonly describe: (answer: T) => readonly string[];
}

export interface ConfirmOptions {
  readonly yes?: boolean;
}

/** Both words, wherever something is confirmed; `yes` is the one that messages name. */
export const YES_FLAGS = '--confirm, --yes';
export const YES = [YES_FLAGS, 'apply without asking'] as const;

/**
 * Shows what would happen and asks on a terminal; --yes answers the question beforehand. Without a terminal and without
 * --yes the preview is the result.
 */
export async function confirmed<T>(out: Output, change: ConfirmedChange<T>, { yes }: ConfirmOptions): Promise<void> {
  if (!yes) {
    const preview = await change.preview();
    const canAsk = process.stdin.isTTY && process.stderr.isTTY && !out.json;
    if (!canAsk) {
      out.result(preview, [...change.describe(preview), 'Nothing was changed: add --yes to apply it.']);
      return;
    }
    for (const line of change.describe(preview)) out.note(line);
    if (!(await asksYes())) {
      out.note('Nothing was changed.');
      process.exitCode = EXIT.failed;
      return;
    }
  }
  const answer = await change.apply();
  out.result(answer, change.describe(answer));
}

async function asksYes(): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question('Go on? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}
