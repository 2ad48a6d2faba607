import { contexts } from './context.js';
import { list } from './list.js';
import { log } from './log.js';
import type { Measurement } from './measurement.js';
import { nodeRead } from './node-read.js';
import { overview } from './overview.js';
import { search } from './search.js';
import { snapshot, snapshotAgain, unchanged } from './snapshot.js';

/** Everything that is measured beside a bare query; what writes comes last. */
export const MEASUREMENTS: readonly Measurement[] = [
  nodeRead,
  ...contexts,
  list,
  search,
  overview,
  snapshotAgain,
  unchanged,
  snapshot,
  log,
];
