import { Injectable } from '@nestjs/common';
import type { Caller } from '@workspace-graph/contracts';
import { Database, type Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { authorOf } from '../shared/caller.js';
import type { RemoteObject } from './object-locks.js';
import {
  CENTRE_INTENT,
  CENTRE_INTENTS,
  type CentreIntent,
  DROP_INTENT,
  FAIL_INTENT,
  type FoundFile,
  MOVES_OF_FILE,
  NOTE_INTENT,
} from './remote-file.statements.js';
import { storedHashOf } from './remote-files.js';

const AT_ONCE = 100;
type Row = CentreIntent & Record<string, unknown>;

/** Where the content of a file is to go. */
export interface MoveGoal {
  readonly nodeId: string;
  readonly path: string;
  readonly object: RemoteObject;
}

/** What the centre is about to do to objects, so that what breaks off is finished or taken back. */
@Injectable()
export class CentreIntents {
  constructor(private readonly database: Database) {}

  async note(
    found: FoundFile,
    from: RemoteObject,
    caller: Caller,
    goal: MoveGoal | null = null,
  ): Promise<CentreIntent> {
    const { id: file_id, node_id, path: from_path } = found.file;
    const intent: CentreIntent = {
      id: newId(),
      file_id,
      node_id,
      kind: goal ? 'move' : 'delete',
      from_path,
      to_node_id: goal?.nodeId ?? null,
      to_path: goal?.path ?? null,
      sha256: storedHashOf(found),
      from_remote: from.remote,
      from_object: from.path,
      to_remote: goal?.object.remote ?? null,
      to_object: goal?.object.path ?? null,
    };
    await this.database.rows(NOTE_INTENT, [JSON.stringify(intent), authorOf(caller)]);
    return intent;
  }

  /** The oldest ones, those up to an id aside; as many as are looked at in one go. */
  after(id: string | null): Promise<CentreIntent[]> {
    return this.database.rows<Row>(CENTRE_INTENTS, [id, AT_ONCE]);
  }

  /** Moves of a file that are under way, or were cut off. */
  movesOf(fileId: string): Promise<CentreIntent[]> {
    return this.database.rows<Row>(MOVES_OF_FILE, [fileId]);
  }

  find(id: string): Promise<CentreIntent | null> {
    return this.database.row<Row>(CENTRE_INTENT, [id]);
  }

  /** It is done, or nothing of it. */
  async drop({ id }: CentreIntent, tx?: Transaction): Promise<void> {
    if (tx) await tx.execute(DROP_INTENT, [id]);
    else await this.database.rows(DROP_INTENT, [id]);
  }

  /** It is neither, and will be tried again. */
  async fail({ id }: CentreIntent, error: unknown): Promise<void> {
    await this.database.rows(FAIL_INTENT, [id, messageOf(error)]);
  }
}

export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 2_000);
}

/** What somebody is told whose change was neither finished nor taken back. */
export function stuckHint(what: string, error: unknown): string {
  return `${messageOf(error)} ${what} is recorded and will be finished within a minute, or when the remote can be reached again.`;
}
