import { quantile } from '../measurements/figures.js';
import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import type { Word } from './client.js';
import { textOf } from './event-texts.js';
import type { Writer } from './product.js';
import { inTurns, TURNS } from './rounds.js';
import type { Stage } from './stage.js';

const MOST_P50_MS = 10;
const MOST_P99_MS = 50;
/** Between two appends: to sessions with some followers, and to the one that everybody follows. */
const SPREAD_EVERY_MS = 20;
const SHARED_EVERY_MS = 200;

/** Who is told of what: each socket follows the one shared session, and some of the others. */
interface Audience {
  readonly writers: readonly Writer[];
  /** Of each writer. */
  readonly followers: readonly number[];
  readonly wanted: readonly { readonly token: string; readonly sessionIds: readonly string[] }[];
}

/** From an append until the event has arrived at each of its followers, beside a bare server that is told what to send. */
export async function measureDelivery(stage: Stage): Promise<Figure[]> {
  const { product, client, options, productAt, bareAt } = stage;
  const caller = stage.person(0).caller;
  const writers = await product.call('connect', { count: options.sockets + 1, nodeId: stage.nodeId, caller });
  const audience = gather(stage, writers);
  const after = 1;
  const frame = await sampleFrame(stage, writers[0]);
  const states = await stage.openStates();
  stage.progress(`delivery: opening ${options.sockets} sockets on both sides …`);
  await client.call('open', { url: productAt.url, wanted: audience.wanted, states, after });
  await client.call('open', { url: bareAt.url, wanted: audience.wanted, states: 0, after });
  await stage.settle();
  const figures = [
    ...(await measure(stage, {
      audience,
      frame,
      indexes: Array.from({ length: options.sockets }, (_none, index) => index + 1),
      everyMs: SPREAD_EVERY_MS,
    })),
    ...(await measure(stage, { audience, frame, indexes: [0], everyMs: SHARED_EVERY_MS })),
  ];
  await client.call('close', null);
  return figures;
}

function gather(stage: Stage, writers: readonly Writer[]): Audience {
  const { sockets, subscriptions } = stage.options;
  const followers = writers.map(() => 0);
  const wanted = Array.from({ length: sockets }, (_none, socket) => {
    const own = Array.from(
      { length: subscriptions - 1 },
      (_same, index) => 1 + ((socket + index) % (writers.length - 1)),
    );
    const followed = [0, ...new Set(own)];
    for (const index of followed) followers[index] = (followers[index] ?? 0) + 1;
    return { token: stage.tokenFor(socket), sessionIds: followed.map((index) => writers[index]?.sessionId ?? '') };
  });
  return { writers, followers, wanted };
}

interface Plan {
  readonly audience: Audience;
  /** Of an event, as the product sends it. */
  readonly frame: string;
  /** Of the writers whose turn it is. */
  readonly indexes: readonly number[];
  readonly everyMs: number;
}

async function measure(stage: Stage, plan: Plan): Promise<Figure[]> {
  const { client, options, productAt, bareAt } = stage;
  const count = Math.max(2, Math.round((options.seconds * 1_000) / TURNS / plan.everyMs));
  let said = 0;
  const side = (controlUrl: string, textFor: (writer: Writer, text: string) => string) => () => {
    const words = Array.from({ length: count }, () => wordOf(plan, said++, textFor));
    return client.call('deliver', { controlUrl, words, everyMs: plan.everyMs });
  };
  const both = await inTurns(
    side(productAt.controlUrl, (writer, text) => JSON.stringify({ writer, text })),
    side(bareAt.controlUrl, ({ sessionId }, text) => JSON.stringify({ sessionId, frame: withText(plan.frame, text) })),
  );
  const [mine, theirs] = [both.product, both.beside].map((rounds) =>
    Float64Array.from(rounds.flatMap((round) => [...round])).sort(),
  );
  if (!mine || !theirs) throw new Error('Nothing was delivered');
  const followers = Math.max(...plan.indexes.map((index) => plan.audience.followers[index] ?? 0));
  const title = `append to delivery, ${options.sockets.toLocaleString('en-US')} sockets × ${options.subscriptions}, an event to ${followers.toLocaleString('en-US')} of them`;
  const figure = (name: string, share: number, most: number): Figure => ({
    what: `${title}, ${name}`,
    value: quantile(mine, share),
    unit: 'ms',
    beside: { name: 'bare ws', value: quantile(theirs, share) },
    ratio: quantile(mine, share) / quantile(theirs, share),
    verdict: below(most, quantile(mine, share)),
  });
  return [figure('p50', 0.5, MOST_P50_MS), figure('p99', 0.99, MOST_P99_MS)];
}

function wordOf({ audience, indexes }: Plan, said: number, textFor: (writer: Writer, text: string) => string): Word {
  const index = indexes[said % indexes.length] ?? 0;
  const writer = audience.writers[index];
  if (!writer) throw new Error('There is no such writer');
  const mark = String(said);
  return { text: textFor(writer, `«${mark}» ${textOf(said)}`), mark, arrivals: audience.followers[index] ?? 0 };
}

/** The frame of an event in a log, which the bare server sends too. */
async function sampleFrame({ product, client, productAt, person }: Stage, writer: Writer | undefined): Promise<string> {
  if (!writer) throw new Error('There is no writer');
  await product.call('append', { writers: [writer], batch: 1, forMs: 0 });
  const { token } = person(0);
  const asked = { url: productAt.url, token, sessionId: writer.sessionId, after: 1, count: 1 };
  const [frame] = await client.call('frames', asked);
  if (frame === undefined) throw new Error('No event came');
  return frame;
}

function withText(frame: string, text: string): string {
  const { type, payload } = JSON.parse(frame) as { type: string; payload: { session_id: string; event: object } };
  return JSON.stringify({ type, payload: { ...payload, event: { ...payload.event, payload: { text } } } });
}
