import { listNodes, type OutputOf } from '@workspace-graph/contracts';
import { LIST } from '../baseline/list.js';
import type { Measurement } from './measurement.js';

const PAGE = 50;

/** A page of the projects of each organization by name. */
export const list: Measurement = {
  name: 'list',
  title: 'list, 50 nodes',
  target: { ratio: { local: 2, central: 3 } },
  plan: ({ world }) => {
    const organizations = world.graph.organizationIds;
    return {
      calls: organizations.map((id) => ({
        operation: listNodes,
        input: { organization_id: id, type: ['project'], limit: PAGE },
      })),
      baseline: { text: LIST, shots: organizations.map((id) => ({ values: [world.userId, id] })) },
      pair: (answer, rows) => {
        const { items, next_cursor } = answer as OutputOf<typeof listNodes>;
        const written = rows.slice(0, PAGE).map(({ item }) => JSON.parse(String(item)) as unknown);
        return {
          product: { items, more: next_cursor !== null },
          bare: { items: written, more: rows.length > PAGE },
        };
      },
    };
  },
};
