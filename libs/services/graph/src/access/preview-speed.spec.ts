import { type Caller, createNode, setAccess } from '@workspace-graph/contracts';
import { OperationRegistry } from '@workspace-graph/platform';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { GraphModule } from '../graph.module.js';

const SAMPLES = 9;
/** Room for the deeper indexes of a large graph, and for noise. */
const MOST_TIMES_SLOWER = 5;

let small: ServiceHarness;
let large: ServiceHarness;
beforeAll(async () => {
  small = await startServices([GraphModule]);
  large = await startServices([GraphModule], { largeGraph: {} });
  // Checking replies against their schemas takes longer than making them.
  for (const services of [small, large]) services.module.get(OperationRegistry).validateReplies = false;
});
afterAll(async () => {
  await small.close();
  await large.close();
});

/** A parent with three nodes below it that everybody sees. */
async function smallTree(services: ServiceHarness, admin: Caller): Promise<string> {
  const organization = await services.call(createNode, { type: 'organization', name: 'Speed' }, admin);
  const make = (parents: string[]) =>
    services.call(
      createNode,
      { type: 'area', name: 'Area', organization_id: organization.id, parent_ids: parents },
      admin,
    );
  const top = await make([]);
  for (let index = 0; index < 3; index += 1) await make([top.id]);
  return top.id;
}

async function previewMs(services: ServiceHarness, admin: Caller, node_id: string): Promise<number> {
  const start = performance.now();
  const preview = await services.call(setAccess, { node_id, visibility: 'private', dry_run: true }, admin);
  expect(preview.preview?.loses[0]?.node_count).toBe(4);
  return performance.now() - start;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

describe('a preview of sharing', () => {
  it('costs what it touches, not what there is', async () => {
    const worlds = await Promise.all(
      [small, large].map(async (services) => {
        const admin = await services.user('Ada', 'manage');
        // As many losers in the one as in the other.
        if (services === small) for (let index = 0; index < 199; index += 1) await services.user(`User ${index}`);
        return { services, admin, node: await smallTree(services, admin), took: [] as number[] };
      }),
    );
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      for (const { services, admin, node, took } of worlds) took.push(await previewMs(services, admin, node));
    }
    const [inSmall = 0, inLarge = 0] = worlds.map(({ took }) => median(took));
    expect(inLarge).toBeLessThan(inSmall * MOST_TIMES_SLOWER);
  });
});
