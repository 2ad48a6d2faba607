import pg from 'pg';

/** $1 session, $2 events: messages, and calls that begin and end; each text names the seq of its event. */
const APPEND = `
  WITH grown AS (
    UPDATE session.session SET last_seq = last_seq + $2::int WHERE id = $1::uuid RETURNING last_seq - $2::int AS before
  )
  INSERT INTO session.event (session_id, seq, id, kind, payload)
  SELECT $1::uuid, seq, gen_random_uuid(), CASE seq % 4 WHEN 0 THEN 'assistant_message' ELSE 'tool_call' END, CASE seq % 4
    WHEN 0 THEN json_build_object('text', 'Event ' || seq || '. ' || repeat('The board decides on Tuesday. ', seq % 9))
    WHEN 1 THEN json_build_object('call_id', 'call ' || seq, 'phase', 'started', 'title', 'Event ' || seq)
    WHEN 2 THEN json_build_object('call_id', 'call ' || seq - 1, 'phase', 'completed', 'title', 'Event ' || seq)
    ELSE json_build_object('call_id', 'call ' || seq, 'phase', 'failed', 'title', 'Event ' || seq, 'output_excerpt', 'EVENT_NOT_FOUND: none') END
  FROM grown, generate_series(before + 1, before + $2::int) AS seq`;

/** Writes a long log for a session at once, beside the service. Calls of every fourth event end with the one after it. */
export async function appendLongLog(databaseUrl: string, sessionId: string, events: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(APPEND, [sessionId, events]);
  } finally {
    await client.end();
  }
}
