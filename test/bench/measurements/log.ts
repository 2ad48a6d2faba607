import { logEvent } from '@workspace-graph/contracts';
import { z } from 'zod';
import { LEFT_BY_LOG, LOG } from '../baseline/log.js';
import { FRESH_ID } from '../load/shots.js';
import { type Measurement, onlyJson } from './measurement.js';

const CONTENT =
  'The supplier confirmed the date; the contract waits for its signature, and the board decides on Tuesday.';

const Logged = z.looseObject({ id: z.string(), occurred_at: z.string(), logged_at: z.string() });

function withoutItsOwn(answer: unknown): unknown {
  const { id: _id, occurred_at: _occurred, logged_at: _logged, ...rest } = Logged.parse(answer);
  return rest;
}

/** Writing an event; every one is on the disk before it is answered. */
export const log: Measurement = {
  name: 'log',
  title: 'log event',
  target: { ratio: { local: 3, central: 3 } },
  plan: ({ world }) => ({
    calls: world.writableIds.map((id) => ({
      operation: logEvent,
      input: { node_id: id, kind: 'note', content: CONTENT },
    })),
    baseline: {
      text: LOG,
      shots: world.writableIds.map((id) => ({
        values: [world.userId, id, 'note', CONTENT, FRESH_ID, FRESH_ID, FRESH_ID, FRESH_ID],
      })),
    },
    pair: (answer, rows) => ({ product: withoutItsOwn(answer), bare: withoutItsOwn(onlyJson(rows)) }),
    left: (answer) => ({ text: LEFT_BY_LOG, values: [Logged.parse(answer).id] }),
  }),
};
