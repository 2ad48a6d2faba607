import { validationFailed } from '@workspace-graph/contracts';

/** Something that checks a value, such as a zod schema. */
interface KeySchema<K> {
  safeParse(value: unknown): { readonly success: true; readonly data: K } | { readonly success: false };
}

/** Sorts after every id; with `infinity` and the like it stands for "before the first item" of a descending list. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** Sorts before every id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * The opaque cursor of one list: base64url of the JSON array `[list, ...sort key of the last item shown]`. A list with
 * several orders has a cursor, with a name of its own, for each.
 */
export interface Cursor<K extends readonly unknown[]> {
  /**
   * The sort key to go on after; `start` when the caller sent no cursor.
   * @throws ServiceError VALIDATION_FAILED on path `cursor` for anything this list did not issue
   */
  read(cursor: string | undefined, start: K): K;
  /** For pages that are put together in the process. */
  write(key: K): string;
  /** SQL text of the cursor, from the SQL expressions of a row's sort key. */
  sql(...key: readonly string[]): string;
}

/** Declares the cursor of a list; `key` says what its sort key consists of. */
export function cursorOf<K extends readonly unknown[]>(list: string, key: KeySchema<K>): Cursor<K> {
  return {
    read(cursor, start) {
      if (cursor === undefined) return start;
      const result = key.safeParse(issuedParts(list, cursor));
      if (!result.success)
        throw validationFailed([{ path: 'cursor', message: 'must be the next_cursor of a page of this list' }]);
      return result.data;
    },
    write: (parts) => Buffer.from(JSON.stringify([list, ...parts])).toString('base64url'),
    sql: (...parts) =>
      `translate(encode(convert_to(json_build_array('${list}', ${parts.join(', ')})::text, 'UTF8'), 'base64'), E'+/=\\n', '-_')`,
  };
}

/**
 * Statement text of one page as JSON. `rows` selects up to `limit` + 1 rows with the columns `item` (json), `cursor`
 * (text, from `Cursor.sql`) and `place` (1 for the first); `limit` is the SQL of the page size.
 */
export const pageJson = (limit: string, rows: string): string => `
  SELECT json_build_object(
    'items', coalesce(json_agg(p.item ORDER BY p.place) FILTER (WHERE p.place <= ${limit}), '[]'),
    'next_cursor', CASE WHEN count(*) > ${limit} THEN max(p.cursor) FILTER (WHERE p.place = ${limit}) END)::text AS json
  FROM (${rows}) p`;

/** What a cursor of this list says; null for anything else. PostgreSQL knows no NUL character. */
function issuedParts(list: string, cursor: string): readonly unknown[] | null {
  const value = parseJson(Buffer.from(cursor, 'base64url').toString());
  if (!Array.isArray(value) || value[0] !== list) return null;
  const parts: readonly unknown[] = value.slice(1);
  return parts.some((part) => typeof part === 'string' && part.includes('\u0000')) ? null : parts;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
