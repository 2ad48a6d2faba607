import { type Caller, createUser, inviteDevice, whoami } from '@workspace-graph/contracts';
import { type CentralWorld, startWorld } from '../central/central-world.js';
import { LinkedDevice, redeem, untilLinked } from '../central/linked-device.js';
import { callBy, runSteps, SCOPES } from './run.js';
import { accessTable, emptyWorld } from './world.js';

/**
 * The same through a real centre: each user calls by a device of theirs, at the link of the gateway.
 *
 * SVC_ACCESS_LINK_STEPS   random steps; default: 300
 * SVC_PROPERTY_SEED    of the world, or `new`
 */
const STEPS = Number(process.env['SVC_ACCESS_LINK_STEPS'] ?? 300);
const GIVEN_SEED = process.env['SVC_PROPERTY_SEED'] ?? '914766014';
const SEED = GIVEN_SEED === 'new' ? Math.floor(Math.random() * 1_000_000_000) : Number(GIVEN_SEED);

let world: CentralWorld;
/** By the ids of their persons. */
const devices = new Map<string, LinkedDevice>();

beforeAll(async () => {
  const variables = { SVC_RATE_LIMIT_PER_MINUTE: '0' };
  world = await startWorld({ variables, replicas: { gateway: 1, 'graph-svc': 1 } });
}, 240_000);
afterAll(async () => {
  for (const device of devices.values()) await device[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

describe('a random workspace', () => {
  it(
    'answers workstations as the rules say after every change [access.materialised.equals-model] [access.device.own-person]',
    async () => {
      const ground = emptyWorld();
      for (const [index, scope] of SCOPES.entries()) ground.users.set(`u${index}`, await join(`u${index}`, scope));
      const call = callBy((operation, input, envelope) => {
        const device = devices.get(envelope.caller?.user_id ?? '');
        if (!device) throw new Error(`${operation.name}: nobody calls`);
        return device.bus.call(operation, input, envelope, { timeoutMs: 60_000 });
      });
      const session = { world: ground, table: accessTable(ground), call };
      // Whoever is disabled is cut off from the link, and is asked nothing any more.
      const steps = {
        seed: SEED,
        count: STEPS,
        isOf: ({ change }: { change: { do: string } }) => change.do !== 'disable_user',
      };
      const done = await runSteps(session, steps);
      console.info(`seed ${SEED}: ${done} steps`);
      expect(done).toBeGreaterThan(STEPS / 2);
    },
    6 * 3_600_000,
  );
});

/** Somebody with a device. */
async function join(name: string, scope: (typeof SCOPES)[number]): Promise<Caller> {
  const { ada } = world;
  // The first administrator is one of them: nobody else is there.
  const isFirst = devices.size === 0;
  const user = isFirst ? (await ada.call(whoami, {})).user : await ada.call(createUser, { name, max_scope: scope });
  const user_id = user.id;
  const { code } = await ada.call(inviteDevice, { user_id, scope });
  const { device, token } = await redeem(ada.url, code);
  devices.set(user_id, await untilLinked(new LinkedDevice(device.id, token, ada.url)));
  return { user_id, scope, credential_id: null, via: 'rest', device_id: device.id };
}
