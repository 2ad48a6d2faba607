import { getSnapshot, Health, Lifecycle, NODE_TYPES, Relation, setPositions } from '@workspace-graph/contracts';
import { z } from 'zod';
import { SNAPSHOT, UNCHANGED } from '../baseline/snapshot.js';
import type { Answer, SqlShot } from '../load/shots.js';
import type { Call } from '../places/place.js';
import { itemAt } from '../world.js';
import type { Measurement, Pair, Row, Surroundings } from './measurement.js';

const Drawn = z.looseObject({
  token: z.string(),
  nodes: z.record(z.string(), z.unknown()),
  organizations: z.unknown(),
  edges: z.unknown(),
});

function pair(answer: Answer, [row]: readonly Row[]): Pair {
  const { nodes, organizations, edges } = Drawn.parse(answer);
  const written = {
    nodes: JSON.parse(String(row?.['nodes'])) as unknown,
    organizations: JSON.parse(String(row?.['organizations'])) as unknown,
    edges: JSON.parse(`[${String(row?.['edges'])}]`) as unknown,
  };
  return { product: { nodes, organizations, edges }, bare: written };
}

function wholeGraph({ world }: Surroundings): { text: string; shots: readonly SqlShot[] } {
  const codes = [NODE_TYPES, Lifecycle.options, Health.options, Relation.options];
  return { text: SNAPSHOT, shots: [{ values: [world.userId, ...codes] }] };
}

const call: Call<typeof getSnapshot> = { operation: getSnapshot, input: {} };

/** A change ahead of each request, so that the graph must be read each time. */
export const snapshot: Measurement = {
  name: 'snapshot',
  title: 'snapshot after a change',
  target: { ratio: { local: 2, central: 2 } },
  plan: (surroundings) => ({
    calls: [call],
    before: somethingMoves(surroundings),
    baseline: wholeGraph(surroundings),
    pair,
  }),
};

/** Asked again while nothing has changed. */
export const snapshotAgain: Measurement = {
  name: 'snapshot-again',
  title: 'snapshot, whole again',
  target: { ratio: { local: 2, central: 2 } },
  plan: (surroundings) => ({ calls: [call], baseline: wholeGraph(surroundings), pair }),
};

export const unchanged: Measurement = {
  name: 'unchanged',
  title: 'unchanged snapshot (304)',
  target: { p50Ms: 5 },
  plan: async ({ ask, sql }) => {
    const [now] = await sql('SELECT pg_current_snapshot()::text AS snapshot');
    const { token } = Drawn.parse(await ask(call));
    return {
      calls: [{ operation: getSnapshot, input: { if_none_match: token } }],
      baseline: { text: UNCHANGED, shots: [{ values: [now?.['snapshot']] }] },
      // Over HTTP the answer has no body.
      pair: (answer, [row]) => ({
        product: answer === null || z.object({ unchanged: z.literal(true) }).safeParse(answer).success,
        bare: row?.['unchanged'],
      }),
    };
  },
};

/** There and back, each time a change. */
function somethingMoves({ world }: Surroundings): Call<typeof setPositions>[] {
  const node_id = itemAt(world.writableIds, 0);
  return [1, 2].map((x) => ({ operation: setPositions, input: { positions: [{ node_id, x, y: 1 }] } }));
}
