import type { OverviewData } from './overview-data';

export type Activity = OverviewData['recent_activity'][number];

/** What was logged alike on several nodes at once. */
export interface ActivityGroup {
  readonly first: Activity;
  readonly others: readonly Activity[];
}

/** Puts events of one kind, moment and text together, at the place of the first of them; each write of a session stays alone. */
export function groupAlike(activity: readonly Activity[]): ActivityGroup[] {
  const groups = new Map<string, Activity[]>();
  for (const [index, item] of activity.entries()) {
    const key = keyOf(item) ?? String(index);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()].flatMap(([first, ...others]) => (first ? [{ first, others }] : []));
}

function keyOf({ at, event }: Activity): string | null {
  return event && JSON.stringify([at, event.kind, event.content]);
}
