import { writeFile } from 'node:fs/promises';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { AnswersDiffer } from './measurements/compare.js';

/** The command line cannot be carried out as it is. */
export class UsageError extends Error {}

/** What every benchmark is asked. */
export interface BenchOptions {
  readonly jsonFile?: string;
}

/** One benchmark: what it is asked, what it measures, and how that is shown. */
export interface BenchCommand<Options extends BenchOptions, Report> {
  readonly help: string;
  /** Undefined when help is asked for. @throws UsageError */
  readonly read: (args: readonly string[]) => Options | undefined;
  readonly measure: (options: Options) => Promise<Report>;
  /** Tables for people. */
  readonly print: (report: Report) => string;
}

export const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** Measures, prints, and writes the JSON. @returns the exit code: 0 measured, 1 failed, 2 wrong usage */
export async function carryOut<Options extends BenchOptions, Report>(
  { help, read, measure, print }: BenchCommand<Options, Report>,
  args: readonly string[],
): Promise<number> {
  try {
    const options = read(args);
    if (!options) {
      process.stdout.write(`${help}\n`);
      return 0;
    }
    const report = await measure(options);
    process.stdout.write(`${print(report)}\n`);
    if (options.jsonFile !== undefined) await writeFile(options.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      progress(`${error.message}\n\n${help}`);
      return 2;
    }
    progress(error instanceof AnswersDiffer ? error.message : String(error instanceof Error ? error.stack : error));
    return 1;
  }
}

/** Values of the options, `--json` and `--help` among them. @throws UsageError */
export function parse<const Known extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  known: Known,
) {
  const options = {
    ...known,
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** What stands between the commas; all of them known. @throws UsageError */
export function namesOf<Name extends string>(text: string | undefined, known: readonly Name[]): Name[] {
  const names = text?.split(',').filter(Boolean) ?? [];
  return names.map((name) => {
    const found = known.find((one) => one === name);
    if (found === undefined) throw new UsageError(`There is no measurement ${name}.`);
    return found;
  });
}

/** @throws UsageError */
export function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new UsageError(`${text} is no number above 0.`);
  return value;
}
