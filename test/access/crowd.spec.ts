import type { Caller, ErrorCode } from '@workspace-graph/contracts';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { Crowd } from './crowd.js';
import { Random } from './random.js';

const SEED = Number(process.env['SVC_PROPERTY_SEED'] ?? 261_122);
const PEOPLE = 10;
const CHANGES_OF_EACH = Number(process.env['SVC_CROWD_CHANGES'] ?? 40);
/** What one who comes too late may be told. A deadlock is none of these. */
const EXPECTED: readonly ErrorCode[] = [
  'NODE_NOT_FOUND',
  'EVENT_NOT_FOUND',
  'ACTOR_NOT_FOUND',
  'USER_NOT_FOUND',
  'GROUP_NOT_FOUND',
  'RESPONSIBILITY_NOT_FOUND',
  'ACCESS_REQUEST_NOT_FOUND',
  'EDGE_EXISTS',
  'EDGE_CYCLE',
  'ORG_INVARIANT',
  'NAME_TAKEN',
  'IN_USE',
  'CONFLICT',
  'VALIDATION_FAILED',
];

let services: ServiceHarness;
beforeAll(async () => {
  services = await startServices([GraphModule, IdentityModule]);
});
afterAll(() => services.close());

const stored = async () =>
  (
    await services.database.pool.query(`
    SELECT (SELECT json_agg(json_build_array(g.gate_id, g.principal_id, g.access) ORDER BY g.gate_id, g.principal_id) FROM graph.gate_grant g) AS grants,
      (SELECT json_agg(json_build_array(n.id, s.gates) ORDER BY n.id) FROM graph.node n LEFT JOIN graph.access_set s ON s.id = n.access_set_id) AS nodes`)
  ).rows;

describe(`everything changed at once, seed ${SEED}`, () => {
  it('fails nowhere, waits in no circle, and leaves access as working it out anew does [access.materialised.same-transaction]', async () => {
    const manager = (name: string): Promise<Caller> => services.user(name, 'manage');
    const crowd = new Crowd(services, [await manager('Ada'), await manager('Bea'), await manager('Cyd')]);
    await crowd.settle(new Random(SEED));
    await Promise.all(Array.from({ length: PEOPLE }, (_, n) => crowd.work(new Random(SEED + n), CHANGES_OF_EACH)));
    expect(crowd.faults).toEqual([]);
    expect([...crowd.codes].filter((code) => !EXPECTED.includes(code))).toEqual([]);
    const before = await stored();
    const { rows } = await services.database.pool.query(
      'SELECT graph.refresh_access(array_agg(n.id)) AS moved FROM graph.node n',
    );
    expect(rows).toEqual([{ moved: 0 }]);
    expect(await stored()).toEqual(before);
  }, 300_000);
});
