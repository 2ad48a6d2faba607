import {
  type FileClass,
  type fileStatus,
  type OutputOf,
  type ParsedInputOf,
  STATUS_BUCKETS,
  type StatusBucket,
  type StatusEntry,
  validationFailed,
} from '@workspace-graph/contracts';
import { bucketOf, type FileVerdict } from './classify.js';
import { parseSubpath } from './file-path.js';

/** Which entries of the buckets are answered. */
export interface StatusFilter {
  readonly classes: readonly FileClass[] | null;
  /** Only this path and what lies below it; null for all. */
  readonly pathPrefix: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** What a file is told as, if it is: made only for entries of the answer. */
export type EntryMaker = () => Promise<StatusEntry>;

interface Bucket {
  size: number;
  /** Entries that pass the filter, told or not. */
  fitting: number;
  readonly told: EntryMaker[];
}

/** Collects the buckets of a status answer; holds no more than the entries that are told. */
export class StatusBuckets {
  private readonly buckets = new Map<StatusBucket, Bucket>(
    STATUS_BUCKETS.map((name) => [name, { size: 0, fitting: 0, told: [] }]),
  );
  private readonly wanted: ReadonlySet<StatusBucket>;

  constructor(private readonly filter: StatusFilter) {
    this.wanted = new Set(filter.classes === null ? STATUS_BUCKETS : filter.classes.map(bucketOf));
  }

  /** Without an entry it is counted and not told. */
  add(verdict: FileVerdict, path: string, entry: EntryMaker | null): void {
    const name = bucketOf(verdict);
    const bucket = this.bucket(name);
    bucket.size += 1;
    if (!entry || !this.wanted.has(name) || !this.isBelowPrefix(path)) return;
    const { offset, limit } = this.filter;
    if (bucket.fitting >= offset && bucket.told.length < limit) bucket.told.push(entry);
    bucket.fitting += 1;
  }

  async answer(): Promise<OutputOf<typeof fileStatus>> {
    const told = await perBucket(async (name) => {
      const entries: StatusEntry[] = [];
      for (const make of this.bucket(name).told) entries.push(await make());
      return entries;
    });
    const counts = await perBucket((name) => this.bucket(name).size);
    return { ...told, counts, truncated: STATUS_BUCKETS.some((name) => counts[name] > told[name].length) };
  }

  private isBelowPrefix(path: string): boolean {
    const { pathPrefix } = this.filter;
    return pathPrefix === null || path === pathPrefix || path.startsWith(`${pathPrefix}/`);
  }

  private bucket(name: StatusBucket): Bucket {
    const bucket = this.buckets.get(name);
    if (!bucket) throw new Error(`There is no bucket ${name}`);
    return bucket;
  }
}

async function perBucket<T>(value: (name: StatusBucket) => T | Promise<T>): Promise<Record<StatusBucket, T>> {
  const entries: [StatusBucket, T][] = [];
  for (const name of STATUS_BUCKETS) entries.push([name, await value(name)]);
  return Object.fromEntries(entries) as Record<StatusBucket, T>;
}

/** What a call asks for. @throws ServiceError VALIDATION_FAILED */
export function statusFilter({ classes, path_prefix, limit, offset }: ParsedInputOf<typeof fileStatus>): StatusFilter {
  const pathPrefix = path_prefix === undefined ? null : prefixOf(path_prefix);
  return { classes: classes ?? null, pathPrefix, limit, offset };
}

/** A slash at the end says no more than the folder itself. */
function prefixOf(text: string): string {
  const parsed = parseSubpath(text.replace(/\/$/, ''));
  if ('problem' in parsed) throw validationFailed([{ path: 'path_prefix', message: parsed.problem }]);
  return parsed.value;
}
