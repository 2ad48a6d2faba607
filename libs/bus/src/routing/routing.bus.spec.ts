import { ServiceError } from '@workspace-graph/contracts';
import type { BusEvent } from '../bus.js';
import { envelope, eventually, failureOf, IDENTITY_PROBE, PROBE, SIDE_PROBE } from '../conformance/probes.js';
import { InProcessBus } from '../in-process/in-process.bus.js';
import { RoutingBus } from './routing.bus.js';

const silent = (): void => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const settings = { graceMs: 20 };

let here: InProcessBus;
let centre: InProcessBus;
let bus: RoutingBus;
beforeEach(async () => {
  here = new InProcessBus({ logger, settings });
  centre = new InProcessBus({ logger, settings });
  bus = new RoutingBus({
    here,
    centre,
    goesOn: (operation, { code }) => operation === PROBE && code === 'NO_MIRROR',
  });
  await centre.serve('graph', [PROBE, SIDE_PROBE], async (operation) => `${operation.name} at the centre`);
});
afterEach(() => bus.close());

it('carries out here what is served here, and asks the centre for everything else', async () => {
  await bus.serve('graph', [PROBE], async () => 'here');
  expect(await bus.call(PROBE, {}, envelope())).toBe('here');
  expect(await bus.call(SIDE_PROBE, {}, envelope())).toBe(`${SIDE_PROBE.name} at the centre`);
  expect(await failureOf(bus.call(IDENTITY_PROBE, {}, envelope()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

it('asks the centre for what was refused here for a reason of this place, and for nothing else', async () => {
  let code: 'NO_MIRROR' | 'FORBIDDEN' = 'NO_MIRROR';
  const refuse = async (): Promise<never> => {
    throw new ServiceError(code, 'Not here.');
  };
  await bus.serve('graph', [PROBE, SIDE_PROBE], refuse);
  expect(await bus.call(PROBE, {}, envelope())).toBe(`${PROBE.name} at the centre`);
  expect(await failureOf(bus.call(SIDE_PROBE, {}, envelope()))).toMatchObject({ code: 'NO_MIRROR' });
  code = 'FORBIDDEN';
  expect(await failureOf(bus.call(PROBE, {}, envelope()))).toMatchObject({ code: 'FORBIDDEN' });
});

it('hears what happens here, and of the centre what it follows', async () => {
  const heard: string[] = [];
  await bus.subscribe(['graph.changed', 'file.changed'], ({ id }) => void heard.push(id));
  const event = (id: string): BusEvent => ({ type: 'graph.changed', id, payload: { node_ids: [], action: 'a' } });
  await centre.publish(event('unheard'));
  await bus.publish(event('here'));
  await bus.follow(['graph.changed']);
  await centre.publish(event('centre'));
  await eventually('both are heard', () => heard.length === 2);
  expect(heard).toEqual(['here', 'centre']);
});

it('tells the way to the centre, and ends both', async () => {
  const told: string[] = [];
  bus.onStatus((status) => told.push(status));
  expect(bus.status).toBe('ready');
  await bus.close();
  expect([told, here.status, centre.status]).toEqual([['draining', 'closed'], 'closed', 'closed']);
});
