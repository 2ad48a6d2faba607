import { median } from '../measurements/figures.js';
import type { Figure } from '../report/figures.js';
import { atLeast } from '../report/judge.js';
import { inTurns } from './rounds.js';
import type { Stage } from './stage.js';

const LEAST_PER_SECOND = 50_000;
const LARGEST_PAGE = 2_000;
const USUAL_PAGE = 200;
const ROUNDS = 3;

/** The whole long log, from its first event to its last. */
export async function measureReplay(stage: Stage): Promise<Figure[]> {
  const sessionId = await stage.longLog();
  return [
    await byPages(stage, sessionId, LARGEST_PAGE),
    await byPages(stage, sessionId, USUAL_PAGE),
    await overSocket(stage, sessionId),
  ];
}

async function byPages(stage: Stage, sessionId: string, limit: number): Promise<Figure> {
  const { product, bare } = stage;
  const { caller } = stage.person(0);
  const both = await inTurns(
    () => product.call('readAll', { sessionId, limit, caller }),
    () => bare.call('readAll', { sessionId, limit }),
    ROUNDS,
  );
  return figureOf(stage, `replay by pages of ${limit.toLocaleString('en-US')} of the service`, 'bare query', both);
}

async function overSocket(stage: Stage, sessionId: string): Promise<Figure> {
  const { client, bare, productAt, bareAt, options } = stage;
  const { token } = stage.person(0);
  const { events } = options;
  const states = await stage.openStates();
  const texts = await client.call('frames', { url: productAt.url, token, sessionId, after: 0, count: events });
  await bare.call('tell', { onConnect: [], onSubscribe: new Map([[sessionId, texts]]) });
  const both = await inTurns(
    () => client.call('replay', { url: productAt.url, token, states, sessionId, events }),
    () => client.call('replay', { url: bareAt.url, token, states: 0, sessionId, events }),
    ROUNDS,
  );
  await bare.call('tell', { onConnect: [], onSubscribe: new Map() });
  return figureOf(stage, 'replay over a socket, from subscribing', 'bare ws', both);
}

interface Took {
  readonly product: readonly number[];
  readonly beside: readonly number[];
}

function figureOf({ options }: Stage, title: string, name: string, { product, beside }: Took): Figure {
  const rate = (took: readonly number[]): number => options.events / (median(took) / 1_000);
  return {
    what: `${title}, ${options.events.toLocaleString('en-US')} events`,
    value: rate(product),
    unit: 'events/s',
    beside: { name, value: rate(beside) },
    ratio: rate(product) / rate(beside),
    verdict: atLeast(LEAST_PER_SECOND, rate(product)),
  };
}
