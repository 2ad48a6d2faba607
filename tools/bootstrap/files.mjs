import { existsSync, readFileSync } from 'node:fs';

export function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Undefined for what is absent, or was cut off while it was written. */
export function readJsonIfWhole(file) {
  try {
    return JSON.parse(readIfThere(file) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}
