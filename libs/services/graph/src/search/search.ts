import {
  type Caller,
  Id,
  type NodeType,
  type OutputOf,
  type search as operation,
  type ParsedInputOf,
  Timestamp,
} from '@workspace-graph/contracts';
import { cursorOf, type Database, LAST_ID } from '@workspace-graph/database';
import { fold, markedName, type SoughtWord, snippetOf, soughtWords, wordsFound } from '@workspace-graph/domain';
import { z } from 'zod';
import { seenBy } from '../shared/caller.js';
import { LATEST } from '../shared/time.js';
import { type HitRow, LOWEST_NAME_SCORE, SEARCH, SEARCH_SHORT, TRIGRAM_LENGTH } from './search.statements.js';

type Page = OutputOf<typeof operation>;

/** Score, time and id of the last hit. */
const CURSOR = cursorOf<[number, string, string]>('search', z.tuple([z.number(), Timestamp, Id]));
const START: [number, string, string] = [1e9, LATEST, LAST_ID];

/** Answers one page of hits among everything the caller may see. */
export async function search(
  database: Database,
  input: ParsedInputOf<typeof operation>,
  caller: Caller,
): Promise<Page> {
  const kinds = input.include ?? ['node', 'event'];
  const isShort = fold(input.query)
    .split(' ')
    .every((word) => word.length < TRIGRAM_LENGTH);
  const rows = await database.rows<HitRow>(isShort ? SEARCH_SHORT : SEARCH, [
    ...seenBy(caller),
    input.query,
    input.limit,
    ...CURSOR.read(input.cursor, START),
    input.type ?? null,
    input.organization_id ?? null,
    kinds.includes('node'),
    kinds.includes('event'),
  ]);
  const words = soughtWords(input.query);
  const shown = rows.slice(0, input.limit);
  const last = rows.length > input.limit ? shown.at(-1) : undefined;
  return {
    items: shown.map((row) => hitOf(row, words)),
    next_cursor: last ? CURSOR.write([last.score, last.at, last.id]) : null,
  };
}

function hitOf(row: HitRow, words: readonly SoughtWord[]): Page['items'][number] {
  const inName = row.event_id === null && row.score >= LOWEST_NAME_SCORE;
  return {
    kind: row.event_id === null ? 'node' : 'event',
    node: { id: row.node_id, type: row.node_type as NodeType, name: row.node_name },
    event_id: row.event_id,
    matched: inName ? 'name' : 'text',
    snippet: inName ? markedName(row.node_name, words) : snippetOf(textWithMost(row, words), words),
    score: row.score,
  };
}

/** The text of a hit that has most of the words. */
function textWithMost({ content, goal, description, node_name: name }: HitRow, words: readonly SoughtWord[]): string {
  if (content !== null) return content;
  const texts = [goal, description, name].filter((text): text is string => !!text);
  const found = texts.map((text) => wordsFound(text, words));
  return texts[found.indexOf(Math.max(...found))] ?? name;
}
