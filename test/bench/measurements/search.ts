import { type OutputOf, search as operation } from '@workspace-graph/contracts';
import { fold } from '@workspace-graph/domain';
import { SEARCH } from '../baseline/search.js';
import type { Measurement, Row } from './measurement.js';

const PAGE = 50;

/** Words, two words, beginnings and whole names, each in names and in texts. Snippets are the product's own. */
export const search: Measurement = {
  name: 'search',
  title: 'search, 50 hits',
  target: { ratio: { local: 1.7, central: 2.2 } },
  plan: ({ world }) => ({
    calls: world.searches.map((query) => ({
      operation,
      input: { query, limit: PAGE, include: ['node', 'event'] as const },
    })),
    baseline: { text: SEARCH, shots: world.searches.map((query) => ({ values: [world.userId, ...asked(query)] })) },
    pair: (answer, rows) => {
      const { items, next_cursor } = answer as OutputOf<typeof operation>;
      return {
        product: {
          hits: items.map((hit) => [hit.node?.id, hit.node?.name, hit.item_id, hit.matched, hit.score]),
          more: next_cursor !== null,
        },
        bare: { hits: rows.slice(0, PAGE).map(hitOf), more: rows.length > PAGE },
      };
    },
  }),
};

function hitOf(row: Row): unknown[] {
  return [row['node_id'], row['name'], row['event_id'], row['matched'], rounded(Number(row['score']))];
}

/** Nobody is told more of a score. */
const rounded = (score: number): number => Math.round(score * 100) / 100;

/** What is asked as a person who writes the query by hand would pass it: the words of these names need no escaping. */
function asked(query: string): unknown[] {
  const folded = fold(query);
  const words = folded.split(' ').sort((a, b) => b.length - a.length);
  const patterns = words.map((word) => `%${word}%`);
  const terms = folded.split(' ').map((word) => `'${word}'`);
  return [folded, patterns[0], patterns, `${terms.join(' & ')}:*`];
}
