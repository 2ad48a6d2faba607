import { fieldOf } from '../http/json.js';
import { RemoteFailure, type RemoteFailureReason } from '../port/index.js';

/** What Dropbox answers with status 409: the tags of the error, from the outermost on. */
export class DropboxError extends Error {
  constructor(
    readonly tags: readonly string[],
    /** Of an upload session whose offset was another one. */
    readonly correctOffset: number | null,
  ) {
    super(`Dropbox answered ${tags.join('/')}`);
    this.name = 'DropboxError';
  }

  has(tag: string): boolean {
    return this.tags.includes(tag);
  }
}

const REASONS: Readonly<Record<string, RemoteFailureReason>> = {
  not_found: 'not_found',
  not_file: 'not_found',
  not_folder: 'not_found',
  unsupported_file: 'not_found',
  conflict: 'exists',
  insufficient_space: 'full',
  insufficient_quota: 'full',
  malformed_path: 'name_refused',
  disallowed_name: 'name_refused',
  no_write_permission: 'forbidden',
  no_permission: 'forbidden',
  restricted_content: 'forbidden',
  team_folder: 'forbidden',
  locked: 'forbidden',
  too_many_write_operations: 'unavailable',
  too_many_files: 'full',
  internal_error: 'unavailable',
};

/** @returns the failure that the tags stand for; an error whose tags are unknown as it is */
export function failureOf(error: DropboxError, path: string): unknown {
  for (const tag of error.tags) {
    const reason = REASONS[tag];
    if (reason) return new RemoteFailure(reason, { path }, { cause: error });
  }
  return error;
}

export function dropboxErrorOf(body: unknown): DropboxError {
  const tags: string[] = [];
  let correctOffset: number | null = null;
  let part = fieldOf(body, 'error');
  while (typeof part === 'object' && part !== null) {
    const offset = fieldOf(part, 'correct_offset');
    if (typeof offset === 'number') correctOffset = offset;
    const tag = fieldOf(part, '.tag');
    if (typeof tag !== 'string') break;
    tags.push(tag);
    part = nextOf(part, tag);
  }
  return new DropboxError(tags, correctOffset);
}

/** What a tag holds: under its own name, as `reason` in uploads, or beside it. */
function nextOf(part: object, tag: string): unknown {
  const inner = fieldOf(part, tag) ?? fieldOf(part, 'reason');
  if (inner !== undefined) return inner;
  return tag === 'incorrect_offset' ? { correct_offset: fieldOf(part, 'correct_offset') } : null;
}
