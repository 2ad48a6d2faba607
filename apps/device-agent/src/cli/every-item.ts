import { LIMITS } from '@workspace-graph/contracts';

interface Asked {
  readonly limit: number;
  readonly cursor?: string;
}
interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/** All items of a list, page by page. */
export async function everyItem<T>(read: (asked: Asked) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read({ limit: LIMITS.listMax, ...(cursor === null ? {} : { cursor }) });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
}
