import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Session, SessionEventBody } from '@workspace-graph/contracts';
import pg from 'pg';
import type { Site } from './site.js';

/** What only a runner reports of a session, and none is installed here: it is put where a runner's reports go. */
export class ScriptedRun implements AsyncDisposable {
  private constructor(private readonly database: pg.Client) {}

  static async of({ folder }: Site): Promise<ScriptedRun> {
    const connectionString = readFileSync(join(folder.root, '.svc/database-url'), 'utf8').trim();
    const database = new pg.Client({ connectionString });
    await database.connect();
    return new ScriptedRun(database);
  }

  /** Enters events at the end of the log. */
  async enter({ id }: Session, events: readonly SessionEventBody[]): Promise<void> {
    await this.database.query(
      `WITH given AS (SELECT value, place FROM json_array_elements($2::json) WITH ORDINALITY AS g(value, place)),
         grown AS (UPDATE session.session SET last_seq = last_seq + $3::int WHERE id = $1::uuid RETURNING last_seq - $3::int AS before)
       INSERT INTO session.event (session_id, seq, id, kind, payload)
       SELECT $1::uuid, before + place, gen_random_uuid(), value ->> 'kind', value -> 'payload' FROM given, grown`,
      [id, JSON.stringify(events), events.length],
    );
  }

  /** Opens questions of the agent, named `q0`, `q1` and so on. */
  async ask({ id }: Pick<Session, 'id'>, questions: readonly object[]): Promise<void> {
    const named = questions.map((question, index) => ({ request_id: `q${index}`, ...question }));
    await this.database.query(
      `WITH waits AS (UPDATE session.session SET waiting_since = now() WHERE id = $1::uuid)
       INSERT INTO session.question (session_id, request_id, question, asked_at)
       SELECT $1::uuid, value ->> 'request_id', value, now() + place * interval '1 ms'
         FROM json_array_elements($2::json) WITH ORDINALITY AS given(value, place)`,
      [id, JSON.stringify(named)],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database.end();
  }
}
