import {
  type Caller,
  HitKind,
  Id,
  type OutputOf,
  type ParsedInputOf,
  type search,
  Timestamp,
} from '@workspace-graph/contracts';
import { cursorOf, type Database, LAST_ID, type Statement } from '@workspace-graph/database';
import {
  fold,
  markedName,
  type SoughtWord,
  snippetOf,
  soughtWords,
  withoutAtSigns,
  wordsFound,
} from '@workspace-graph/domain';
import { z } from 'zod';
import { seenBy } from '../shared/caller.js';
import { LATEST } from '../shared/time.js';
import { type HitRow, searchStatement, TRIGRAM_LENGTH } from './search.statements.js';

type Page = OutputOf<typeof search>;

/** Score, time and id of the last hit. */
const CURSOR = cursorOf<[number, string, string]>('search', z.tuple([z.number(), Timestamp, Id]));
const START: [number, string, string] = [1e9, LATEST, LAST_ID];

/** Answers one page of hits among everything the caller may see. */
export async function find(database: Database, input: ParsedInputOf<typeof search>, caller: Caller): Promise<Page> {
  const query = withoutAtSigns(input.query);
  const isShort = fold(query)
    .split(' ')
    .every((word) => word.length < TRIGRAM_LENGTH);
  const isNarrowed = input.type !== undefined || input.organization_id !== undefined;
  const statement = searchStatement(input.include ?? HitKind.options, { isShort, isNarrowed });
  const rows = await rowsOf(database, statement, [
    ...seenBy(caller),
    query,
    input.limit,
    ...CURSOR.read(input.cursor, START),
    ...(isNarrowed ? [input.type ?? null, input.organization_id ?? null] : []),
  ]);
  const words = soughtWords(query);
  const shown = rows.slice(0, input.limit);
  const last = rows.length > input.limit ? shown.at(-1) : undefined;
  return {
    items: shown.map((row) => hitOf(row, words)),
    next_cursor: last ? CURSOR.write([last.score, last.at, last.id]) : null,
  };
}

async function rowsOf(database: Database, statement: Statement | null, values: readonly unknown[]): Promise<HitRow[]> {
  return statement ? database.rows<HitRow>(statement, values) : [];
}

function hitOf(row: HitRow, words: readonly SoughtWord[]): Page['items'][number] {
  const inText = row.kind === 'event' || row.kind === 'responsibility' || row.goal !== null;
  const { node_id: id, node_type: type, node_name: name, holders } = row;
  return {
    kind: row.kind,
    node: id !== null && type !== null && name !== null ? { id, type, name } : null,
    item_id: row.kind === 'node' ? null : row.id,
    matched: inText ? 'text' : 'name',
    snippet: inText ? snippetOf(textWithMost(row, words), words) : markedName(row.text, words),
    ...(holders ? { holders } : {}),
    score: Math.round(row.score * 100) / 100,
  };
}

/** The text of a hit that has most of the words. */
function textWithMost({ goal, description, text, holders }: HitRow, words: readonly SoughtWord[]): string {
  const own = holders && holders.length > 0 ? `${text}: ${holders.map(({ name }) => name).join(', ')}` : text;
  const texts = [goal, description, own].filter((part): part is string => !!part);
  const found = texts.map((part) => wordsFound(part, words));
  return texts[found.indexOf(Math.max(...found))] ?? own;
}
