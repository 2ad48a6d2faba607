import { median } from '../measurements/figures.js';
import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import { inTurns } from './rounds.js';
import type { Stage } from './stage.js';

const MOST_MS = 100;
const TRIES = 30;

/** From the first byte of the handshake until the states of all sessions are there. */
export async function measureConnects(stage: Stage): Promise<Figure[]> {
  const { product, bare, client, options, productAt, bareAt } = stage;
  const person = stage.person(0);
  const missing = options.states - (await stage.openStates());
  if (missing > 0) await product.call('connect', { count: missing, nodeId: stage.nodeId, caller: person.caller });
  await stage.settle();
  const { token } = person;
  const states = await stage.openStates();
  const onConnect = await client.call('frames', {
    url: productAt.url,
    token,
    sessionId: null,
    after: 0,
    count: states,
  });
  await bare.call('tell', { onConnect, onSubscribe: new Map() });
  const both = await inTurns(
    () => client.call('connect', { url: productAt.url, token, states }),
    () => client.call('connect', { url: bareAt.url, token, states }),
    TRIES,
  );
  await bare.call('tell', { onConnect: [], onSubscribe: new Map() });
  const figure = (name: string, of: (values: readonly number[]) => number): Figure => ({
    what: `connect until ${states} states are there, ${name}`,
    value: of(both.product),
    unit: 'ms',
    beside: { name: 'bare ws', value: of(both.beside) },
    ratio: of(both.product) / of(both.beside),
    verdict: below(MOST_MS, of(both.product)),
  });
  return [figure('p50', median), figure('slowest', (values) => Math.max(...values))];
}
