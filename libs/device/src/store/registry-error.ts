/** The registry of this device, `sync.db`, cannot be opened by this version of the product, now or later. */
export class RegistryError extends Error {
  constructor(
    message: string,
    /** What its user can do. */
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'RegistryError';
  }
}

/** SQLITE_CORRUPT, NOTADB. */
const DAMAGED: readonly number[] = [11, 26];

/** What the open of a registry failed with, as what can be done about it; others pass through. */
export function openError(file: string, error: unknown): unknown {
  if (!(error instanceof Error && 'errcode' in error && DAMAGED.includes(Number(error.errcode) & 0xff))) return error;
  return new RegistryError(
    `${file} is damaged: ${error.message}`,
    'Move sync.db and sync.db-wal away and start again: records keep their ids; register folders again with `svc mirror create`.',
    { cause: error },
  );
}
