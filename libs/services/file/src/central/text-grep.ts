import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { type Caller, LIMITS } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { decodeText } from '@workspace-graph/disk';
import { snippetMaker, type Term, termsMatcher } from '@workspace-graph/domain';
import { type Remote, RemoteFailure } from '@workspace-graph/remotes';
import pMap, { pMapSkip } from 'p-map';
import { seenBy } from '../shared/caller.js';
import { type FoundHit, type GrepCandidate, TEXTS_ON_REMOTE } from './search.statements.js';

/** What is asked of the texts on a remote. */
export interface Grep {
  readonly remote: Remote;
  readonly name: string;
  readonly terms: readonly Term[];
  readonly nodeId: string | null;
  readonly caller: Caller;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface GrepHit extends FoundHit {
  readonly snippet: string | null;
}

const AT_ONCE = 8;
/** Texts, whatever their media types say. */
const TEXT_TYPES = [
  'json',
  'ld+json',
  'xml',
  'yaml',
  'toml',
  'javascript',
  'x-sh',
  'sql',
  'x-tex',
  'xhtml+xml',
  'graphql',
]
  .map((type) => `application/${type}`)
  .concat('image/svg+xml');

/**
 * Search in contents where the backend has none and reading costs little. Only what the caller sees is opened, so that what is
 * hidden takes no time either.
 */
@Injectable()
export class TextGrep {
  constructor(private readonly database: Database) {}

  /** The first hits, the last changed first; not all of them when `limit` is reached or the time is over. @throws RemoteFailure */
  async find({ remote, name, terms, nodeId, caller, limit, signal }: Grep): Promise<{
    readonly hits: readonly GrepHit[];
    readonly complete: boolean;
  }> {
    const values = [...seenBy(caller), name, nodeId, LIMITS.grepFileBytes, TEXT_TYPES, LIMITS.grepFiles];
    const rows = await this.database.rows<GrepCandidate & Record<string, unknown>>(TEXTS_ON_REMOTE, values);
    const matches = termsMatcher(terms);
    const snippet = snippetMaker(terms);
    const until = performance.now() + LIMITS.grepMs;
    let found = 0;
    let complete = rows.length < LIMITS.grepFiles;
    const look = async ({ remote_path, ...hit }: GrepCandidate): Promise<GrepHit | typeof pMapSkip> => {
      if (found >= limit || performance.now() > until) {
        complete = false;
        return pMapSkip;
      }
      const text = await textAt(remote, remote_path, signal);
      if (text === null || !matches(text)) return pMapSkip;
      found += 1;
      return { ...hit, snippet: snippet(text) };
    };
    return { hits: await pMap(rows, look, { concurrency: AT_ONCE, signal }), complete };
  }
}

/** Null for what is no text, and for what is not there any more. */
async function textAt(remote: Remote, path: string, signal: AbortSignal): Promise<string | null> {
  try {
    await using content = await remote.read(path, { range: { offset: 0, length: LIMITS.grepFileBytes }, signal });
    return decodeText(await buffer(content.bytes));
  } catch (error) {
    if (error instanceof RemoteFailure && (error.reason === 'not_found' || error.reason === 'changed')) return null;
    throw error;
  }
}
