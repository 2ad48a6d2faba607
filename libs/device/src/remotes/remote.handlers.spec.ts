import { listRemotes, type Operation, REMOTE_OPERATIONS } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';

let device: DeviceFixture;
let nodeId: string;
beforeAll(async () => {
  device = await startDevice();
  nodeId = (await device.mirror('Alpha')).nodeId;
});
afterAll(() => device.close());

/** A valid input of each operation, about one node and one file. */
const inputOf: Readonly<Record<string, (node_id: string, file_id: string) => object>> = {
  setup_remote: () => ({ name: 'store', type: 'objstore', config: { bucket: 'b' } }),
  set_routing_policy: () => ({ rules: [] }),
  store_file: (node_id) => ({ node_id, local_path: '/etc/hostname' }),
  pull_file: (node_id, file_id) => ({ node_id, file_id }),
  snapshot_document: (node_id) => ({ node_id, doc_url: 'https://docs.example/d/1' }),
  sync_node: (node_id) => ({ node_id }),
  resolve_file: (node_id, file_id) => ({ node_id, file_id, action: 'keep_local' }),
};

async function refusalOf(operation: Operation, node: string): Promise<unknown> {
  const input = inputOf[operation.name]?.(node, newId());
  if (!input) throw new Error(`${operation.name} needs an input here`);
  const error = await device.refusal(operation, input, 'LOCAL_MODE_NO_REMOTE');
  return { message: error.message, details: error.details };
}

describe('remote storage in a local workspace', () => {
  it.each(REMOTE_OPERATIONS.map((operation) => ({ name: operation.name, operation })))(
    'refuses $name in the same words for a node that is there and one that is not, and asks nobody [sync.mode.local-refuses-remote]',
    async ({ operation }) => {
      const callsBefore = device.records.calls;
      const there = await refusalOf(operation, nodeId);
      expect(await refusalOf(operation, newId())).toEqual(there);
      expect(JSON.stringify(there)).not.toContain(nodeId);
      expect(device.records.calls).toBe(callsBefore);
    },
  );

  it.each(REMOTE_OPERATIONS.map((operation) => ({ name: operation.name, operation })))(
    'refuses $name whatever it is given, and tells only of fields that it does not know',
    async ({ operation }) => {
      const wrong = Object.fromEntries(Object.keys(operation.input.shape).map((field) => [field, [null]]));
      for (const input of [{}, wrong]) await device.refusal(operation, input, 'LOCAL_MODE_NO_REMOTE');
      await device.refusal(operation, { nope: true }, 'VALIDATION_FAILED');
    },
  );

  it('has no remote in its list, for anybody who may read', async () => {
    expect(await device.call(listRemotes, {}, device.caller('read'))).toEqual({ remotes: [] });
  });
});
