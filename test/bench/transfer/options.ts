import { type BenchOptions, namesOf, parse, positive, UsageError } from '../bench-command.js';

/** What can be measured, in the order in which it is. */
export const TRANSFER_PARTS = ['links', 'memory', 'small', 'large'] as const;
export type TransferPart = (typeof TRANSFER_PARTS)[number];
export const TRANSFER_BACKENDS = ['fs', 'objstore'] as const;
export type TransferBackend = (typeof TRANSFER_BACKENDS)[number];

/** How much is moved. */
export interface TransferScale {
  readonly files: number;
  readonly largeFiles: number;
  readonly largeMB: number;
  /** Of the one content by which memory is measured. */
  readonly hugeMB: number;
  readonly links: number;
}

export interface TransferBenchOptions extends TransferScale, BenchOptions {
  readonly scale: string;
  readonly parts: ReadonlySet<TransferPart>;
  readonly backends: readonly TransferBackend[];
}

/** `tiny` proves that the benchmark runs; its figures say nothing. */
const SCALES: Readonly<Record<string, TransferScale>> = {
  tiny: { files: 20, largeFiles: 2, largeMB: 2, hugeMB: 8, links: 6 },
  small: { files: 1_000, largeFiles: 4, largeMB: 64, hugeMB: 512, links: 50 },
  default: { files: 10_000, largeFiles: 4, largeMB: 64, hugeMB: 2_048, links: 200 },
};

export const TRANSFER_BENCH_HELP = `Usage: npm run bench -- --transfer [--scale small|default] [--only NAMES] [--backends NAMES] [--json FILE]

Measures files on their way between workstations and the storage of a central workspace, beside \`rclone copy\` on the same storage
in the same run: stored by one workstation and pulled by another. Also what a large content costs each process in memory, and
what an idle workstation costs the gateway. Starts a central workspace and two workstations. Prints one table; no figure fails
the run. Needs rclone.

  --scale NAME         how much is moved, default: default
  --only NAMES         separated by commas: ${TRANSFER_PARTS.join(', ')}
  --backends NAMES     separated by commas: ${TRANSFER_BACKENDS.join(', ')}; default: all
  --count N            number of small files, default 10000
  --json FILE          writes all results as JSON

Exit codes: 0 measured, 1 a measurement failed, 2 wrong usage.`;

/** Undefined when help is asked for. @throws UsageError */
export function readTransferBenchOptions(args: readonly string[]): TransferBenchOptions | undefined {
  const values = parse(args, {
    transfer: { type: 'boolean' },
    scale: { type: 'string', default: 'default' },
    only: { type: 'string' },
    backends: { type: 'string' },
    count: { type: 'string' },
  });
  if (values.help) return undefined;
  const scale = SCALES[values.scale];
  if (!scale) throw new UsageError(`There is no scale ${values.scale}.`);
  const { only, backends, count, json } = values;
  return {
    ...scale,
    scale: values.scale,
    parts: new Set(only === undefined ? TRANSFER_PARTS : namesOf(only, TRANSFER_PARTS)),
    backends: backends === undefined ? TRANSFER_BACKENDS : namesOf(backends, TRANSFER_BACKENDS),
    ...(count !== undefined && { files: positive(count) }),
    ...(json !== undefined && { jsonFile: json }),
  };
}
