import { pathKey } from '@workspace-graph/domain';
import type { RemoteEntry } from './entries.js';

/** Tells of each entry of one folder whether another one differs from it only by case or normal form. */
export function markTwins(entries: readonly RemoteEntry[]): RemoteEntry[] {
  const counts = new Map<string, number>();
  for (const { path } of entries) counts.set(pathKey(path), (counts.get(pathKey(path)) ?? 0) + 1);
  return entries.map((entry) => ({ ...entry, hasTwin: (counts.get(pathKey(entry.path)) ?? 0) > 1 }));
}

/** What lies beside a name in the same folder, as the storage spells it; null for nothing. */
export function nameBeside(
  names: readonly string[],
  name: string,
): { readonly same: string } | { readonly twin: string } | null {
  const same = names.find((other) => other.normalize('NFC') === name);
  if (same !== undefined) return { same };
  const twin = names.find((other) => pathKey(other) === pathKey(name));
  return twin === undefined ? null : { twin: twin.normalize('NFC') };
}
