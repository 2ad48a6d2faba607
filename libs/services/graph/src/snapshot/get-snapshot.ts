import { type Caller, type getSnapshot, type ParsedInputOf, RawJson } from '@workspace-graph/contracts';
import type { Database } from '@workspace-graph/database';
import { seenBy } from '../shared/caller.js';
import { SNAPSHOT, type SnapshotRow, UNCHANGED_SINCE } from './snapshot.statements.js';
import { contentOf, deltaAnswer, fullAnswer, parseContent, type RememberedContent } from './snapshot-content.js';
import { deltaOf } from './snapshot-delta.js';
import type { SnapshotMemory } from './snapshot-memory.js';

type Input = ParsedInputOf<typeof getSnapshot>;
type Unchanged = { token: string; unchanged: true };

/**
 * Answers the visible graph, what changed in it since `since`, or that it is the one of `if_none_match`. A token that
 * this caller was not given, or that is no longer remembered, gets the whole graph.
 */
export async function answerSnapshot(
  database: Database,
  memory: SnapshotMemory,
  input: Input,
  caller: Caller,
): Promise<RawJson | Unchanged> {
  const unchangedToken = await stillShown(database, memory, input, caller);
  if (unchangedToken !== undefined && names(input.if_none_match, unchangedToken))
    return { token: unchangedToken, unchanged: true };
  const remembered = unchangedToken === undefined ? undefined : memory.given(caller, unchangedToken);
  const earlier = input.since === undefined ? undefined : memory.given(caller, input.since);
  const current = remembered ?? (await memory.turns.take(() => readInTurn(database, memory, input, caller)));
  if (names(input.if_none_match, current.token)) return { token: current.token, unchanged: true };
  return new RawJson(earlier ? shortest(earlier, current) : fullAnswer(current), { token: current.token });
}

/** The token last shown to this caller if nothing has changed since, as the database knows at this moment. */
async function stillShown(
  database: Database,
  memory: SnapshotMemory,
  input: Input,
  caller: Caller,
): Promise<string | undefined> {
  const last = memory.last(caller, input.include_archived);
  if (!last) return undefined;
  const now = await database.row<{ as_of: string; unchanged: boolean }>(UNCHANGED_SINCE, [last.asOf]);
  if (!now?.unchanged) return undefined;
  memory.confirm(caller, input.include_archived, last.token, now.as_of);
  return last.token;
}

/** Another request of this caller may have read it while this one waited. */
async function readInTurn(
  database: Database,
  memory: SnapshotMemory,
  input: Input,
  caller: Caller,
): Promise<RememberedContent> {
  const token = await stillShown(database, memory, input, caller);
  const remembered = token === undefined ? undefined : memory.given(caller, token);
  return remembered ?? read(database, memory, input, caller);
}

async function read(
  database: Database,
  memory: SnapshotMemory,
  input: Input,
  caller: Caller,
): Promise<RememberedContent> {
  const row = await database.row<SnapshotRow>(SNAPSHOT, [...seenBy(caller), input.include_archived]);
  if (!row) throw new Error('A snapshot returns one row');
  const content = contentOf(row);
  memory.show(caller, input.include_archived, content, row.as_of);
  return content;
}

/** The delta, or the whole graph where that is shorter. */
function shortest(earlier: RememberedContent, current: RememberedContent): string {
  const delta = deltaAnswer(current.token, deltaOf(parseContent(earlier), parseContent(current)));
  const full = fullAnswer(current);
  return delta.length < full.length ? delta : full;
}

/** True when an If-None-Match value, with quotes, weakness and several tags as HTTP has it, or a bare token names it. */
function names(ifNoneMatch: string | undefined, token: string): boolean {
  const tags =
    ifNoneMatch?.split(',').map((tag) =>
      tag
        .trim()
        .replace(/^W\//, '')
        .replace(/^"(.*)"$/, '$1'),
    ) ?? [];
  return tags.includes(token) || tags.includes('*');
}
