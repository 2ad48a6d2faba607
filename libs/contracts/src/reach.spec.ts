import { z } from 'zod';
import { Id } from './common.js';
import { query } from './operation.js';
import { refuseUnsaidReach } from './reach.js';

const input = z.strictObject({ node_id: Id, title: z.string() });

it.each([
  ['says nothing of a node that it names', {}, 'does not say what it reaches by node_id'],
  ['reaches by what it does not take', { node_id: 'read', event_id: 'read' }, 'cannot reach anything by event_id'],
  ['reaches by what names nothing', { node_id: 'read', title: 'read' }, 'cannot reach anything by title'],
  ['is offered and reaches as an internal one', 'internal', 'must say what it reaches'],
] as const)('no operation is taken that %s', (_words, reach, words) => {
  const operation = query({ name: 'peek', owner: 'graph', tier: 'read', reach, doc: 'x', input, output: z.unknown() });
  expect(() => refuseUnsaidReach(operation)).toThrow(words);
});

it('one that says it is', () => {
  const reach = { node_id: 'read' } as const;
  const operation = query({ name: 'peek', owner: 'graph', tier: 'read', reach, doc: 'x', input, output: z.unknown() });
  expect(() => refuseUnsaidReach(operation)).not.toThrow();
});
