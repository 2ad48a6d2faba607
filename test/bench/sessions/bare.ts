import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { type WebSocket, WebSocketServer } from 'ws';
import { listenForWord } from './control.js';
import { textOf } from './event-texts.js';
import { answerCalls } from './helper.js';
import { keepWriting, type Written } from './keep-writing.js';
import { type Held, heldNow } from './memory-held.js';

/** The rows of one batch into the log of one session; who writes knows the seq. $1 session, $2 the seq before, $3 run, $4 ids, $5 payloads. */
const INSERT = `
  INSERT INTO session.event (session_id, seq, id, run_id, at, kind, payload)
  SELECT $1::uuid, $2::int + g.place::int, g.id, $3::uuid, now(), 'assistant_message', g.payload::json
  FROM unnest($4::uuid[], $5::text[]) WITH ORDINALITY AS g(id, payload, place)`;

/** $1 session, $2 after, $3 limit. */
const READ = `
  SELECT json_agg(json_build_object('seq', e.seq, 'id', e.id, 'session_id', e.session_id, 'run_id', e.run_id, 'at', e.at,
    'kind', e.kind, 'payload', e.payload))::text AS json, max(e.seq) AS last
  FROM (SELECT * FROM session.event WHERE session_id = $1::uuid AND seq > $2::int ORDER BY seq LIMIT $3::int) e`;

/** A log that the bare driver writes, and how far it goes. */
interface BareLog {
  readonly sessionId: string;
  last: number;
}

let pool: pg.Pool;
const logs = new Map<string, BareLog>();
const followers = new Map<string, Set<WebSocket>>();
/** What is sent to whoever connects, and to whoever begins to follow the session of this name. */
let told: { readonly onConnect: readonly string[]; readonly onSubscribe: ReadonlyMap<string, readonly string[]> } = {
  onConnect: [],
  onSubscribe: new Map(),
};

const bare = {
  start: async ({ databaseUrl, poolSize }: { databaseUrl: string; poolSize: number }) => {
    pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize, idleTimeoutMillis: 0 });
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
    server.on('connection', greet);
    await once(server, 'listening');
    const controlUrl = await listenForWord(async (word) => spread(JSON.parse(word) as Spread));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, controlUrl };
  },

  tell: async (what: { onConnect: readonly string[]; onSubscribe: ReadonlyMap<string, readonly string[]> }) => {
    told = what;
  },

  append: ({
    sessionIds,
    batch,
    forMs,
  }: {
    sessionIds: readonly string[];
    batch: number;
    forMs: number;
  }): Promise<Written> => {
    const writers = sessionIds.map(logOf);
    return keepWriting(writers, forMs, batch, async (log, first) => {
      const indexes = Array.from({ length: batch }, (_none, index) => index);
      const before = log.last;
      log.last += batch;
      await pool.query({
        name: 'bare.append',
        text: INSERT,
        values: [
          log.sessionId,
          before,
          randomUUID(),
          indexes.map(() => randomUUID()),
          indexes.map((index) => JSON.stringify({ text: textOf(first + index) })),
        ],
      });
    });
  },

  /** Reads a whole log by pages. @returns how long that took */
  readAll: async ({ sessionId, limit }: { sessionId: string; limit: number }): Promise<number> => {
    const beganMs = performance.now();
    for (let after: number | null = 0; after !== null; ) after = await lastOfPage(sessionId, after, limit);
    return performance.now() - beganMs;
  },

  held: (_input: null): Promise<Held> => heldNow(),
};

export type BareCalls = typeof bare;

/** A frame for all who follow a session. */
interface Spread {
  readonly sessionId: string;
  readonly frame: string;
}

function spread({ sessionId, frame }: Spread): void {
  for (const socket of followers.get(sessionId) ?? []) socket.send(frame);
}

function greet(socket: WebSocket): void {
  for (const text of told.onConnect) socket.send(text);
  socket.on('message', (data: Buffer) => {
    const { id, payload } = JSON.parse(data.toString()) as { id: number; payload: { session_id: string } };
    const of = followers.get(payload.session_id) ?? new Set();
    followers.set(payload.session_id, of.add(socket));
    socket.send(JSON.stringify({ id, type: 'reply', payload: {} }));
    for (const text of told.onSubscribe.get(payload.session_id) ?? []) socket.send(text);
  });
  socket.on('close', () => {
    for (const of of followers.values()) of.delete(socket);
  });
}

/** Null where the log ends. */
async function lastOfPage(sessionId: string, after: number, limit: number): Promise<number | null> {
  const values = [sessionId, after, limit];
  const { rows } = await pool.query<{ last: number | null }>({ name: 'bare.read', text: READ, values });
  return rows[0]?.last ?? null;
}

function logOf(sessionId: string): BareLog {
  const known = logs.get(sessionId) ?? { sessionId, last: 0 };
  logs.set(sessionId, known);
  return known;
}

answerCalls(bare);
