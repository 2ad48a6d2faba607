import { LoadProcess } from '../load/load-process.js';
import type { SqlShot } from '../load/shots.js';
import { measureRounds } from '../measurements/rounds.js';
import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import type { Stage } from './stage.js';

const MOST_MS = 50;
const POOL_SIZE = 10;

/** Events as the log answers them, of a session that is there for the caller. $1 session, $2 seq, $3 limit. */
const NEWEST = `
  SELECT json_build_object('items', json_agg(json_build_object('seq', e.seq, 'id', e.id, 'session_id', e.session_id, 'run_id', e.run_id,
    'at', e.at, 'kind', e.kind, 'payload', e.payload) ORDER BY e.seq), 'last_seq', s.last_seq)::text AS json
  FROM session.session s CROSS JOIN LATERAL (
    SELECT * FROM session.event e WHERE e.session_id = s.id AND e.seq > $2::int ORDER BY e.seq DESC LIMIT $3::int) e
  WHERE s.id = $1::uuid GROUP BY s.last_seq`;

/** $1 limit. */
const SESSIONS = `
  SELECT json_agg(json_build_object('id', s.id, 'name', s.name, 'state', s.state, 'owner', s.owner_id, 'client', s.client,
    'node', (SELECT json_build_object('id', n.id, 'type', n.type, 'name', n.name) FROM graph.node n WHERE n.id = s.node_id),
    'scope', (SELECT count(*) FROM session.scope c WHERE c.session_id = s.id), 'last_seq', s.last_seq,
    'last_activity_at', s.last_activity_at) ORDER BY s.last_activity_at DESC, s.id DESC)::text AS json
  FROM (SELECT * FROM session.session ORDER BY last_activity_at DESC, id DESC LIMIT $1::int) s`;

const PAGE = 200;
const LIST = 50;

interface Read {
  readonly what: string;
  readonly path: string;
  readonly name: string;
  readonly text: string;
  readonly shot: SqlShot;
}

/** What a client reads first, over HTTP beside a hand-written query. */
export async function measurePages(stage: Stage): Promise<Figure[]> {
  const id = await stage.longLog();
  const events = stage.options.events.toLocaleString('en-US');
  const reads: Read[] = [
    {
      what: `newest page of a session of ${events} events`,
      path: `/sessions/${id}/events?newest=true&limit=${PAGE}`,
      name: 'bare.newest_events',
      text: NEWEST,
      shot: { values: [id, 0, PAGE] },
    },
    {
      what: `page in the middle of it`,
      path: `/sessions/${id}/events?after=${Math.floor(stage.options.events / 2)}&limit=${PAGE}`,
      name: 'bare.newest_events',
      text: NEWEST,
      shot: { values: [id, Math.floor(stage.options.events / 2), PAGE] },
    },
    {
      what: `list of sessions, ${LIST}`,
      path: `/sessions?limit=${LIST}`,
      name: 'bare.sessions',
      text: SESSIONS,
      shot: { values: [LIST] },
    },
  ];
  await using load = new LoadProcess();
  const figures: Figure[] = [];
  for (const read of reads) figures.push(...(await measure(stage, load, read)));
  return figures;
}

async function measure(stage: Stage, load: LoadProcess, { what, path, name, text, shot }: Read): Promise<Figure[]> {
  const { url } = stage.productAt;
  const headers = { authorization: `Bearer ${stage.person(0).token}` };
  const product = await load.arm({ via: 'http', url, headers, shots: [{ method: 'GET', path, status: 200 }] });
  const bare = await load.arm({ via: 'sql', url: stage.databaseUrl, poolSize: POOL_SIZE, name, text, shots: [shot] });
  const { seconds } = stage.options;
  const line = await measureRounds({ product, bare }, { connections: 1, seconds, settle: async () => undefined });
  await Promise.all([product.close(), bare.close()]);
  const figure = (share: string, value: number, beside: number): Figure => ({
    what: `${what}, over HTTP, ${share}`,
    value,
    unit: 'ms',
    beside: { name: 'bare query', value: beside },
    ratio: value / beside,
    verdict: below(MOST_MS, value),
  });
  return [figure('p50', line.product.p50Ms, line.bare.p50Ms), figure('p99', line.product.p99Ms, line.bare.p99Ms)];
}
