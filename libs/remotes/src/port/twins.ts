import { pathKey } from '@workspace-graph/domain';
import type { RemoteEntry } from './entries.js';

/** Tells of each entry of one folder whether another one differs from it only by case or normal form. */
export function markTwins(entries: readonly RemoteEntry[]): RemoteEntry[] {
  const counts = new Map<string, number>();
  for (const { path } of entries) counts.set(pathKey(path), (counts.get(pathKey(path)) ?? 0) + 1);
  return entries.map((entry) => ({ ...entry, hasTwin: (counts.get(pathKey(entry.path)) ?? 0) > 1 }));
}
