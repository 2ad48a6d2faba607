import { getOverview } from '@workspace-graph/contracts';
import { OVERVIEW } from '../baseline/overview.js';
import { type Measurement, onlyJson } from './measurement.js';

export const overview: Measurement = {
  name: 'overview',
  title: 'overview',
  target: { ratio: { local: 2, central: 2 } },
  plan: ({ world }) => ({
    calls: [{ operation: getOverview, input: {} }],
    baseline: { text: OVERVIEW, shots: [{ values: [world.userId] }] },
    pair: (answer, rows) => ({ product: answer, bare: onlyJson(rows) }),
  }),
};
