import { Test } from '@nestjs/testing';
import {
  type Caller,
  listRemotes,
  listRoutingRules,
  type Operation,
  REMOTE_OPERATIONS,
  ServiceError,
} from '@workspace-graph/contracts';
import { newId, OperationRegistry, OperationsModule, SERVED_BY_REGISTRY } from '@workspace-graph/platform';
import { NoRemotesModule } from './no-remotes.module.js';

const MANAGER: Caller = { user_id: newId(), scope: 'manage', credential_id: null, via: 'rest' };

let registry: OperationRegistry;
beforeAll(async () => {
  const module = await Test.createTestingModule({ imports: [OperationsModule, NoRemotesModule] }).compile();
  registry = module.get(OperationRegistry);
  registry.allowPartial = true;
  registry.validateReplies = true;
  await module.createNestMicroservice(SERVED_BY_REGISTRY).listen();
});

const call = (operation: Operation, input: object, caller = MANAGER): Promise<unknown> => {
  const envelope = { callId: newId(), requestId: 'request', caller };
  return registry.dispatch(operation, input, { envelope, signal: new AbortController().signal });
};
const refusal = (operation: Operation, input: object) =>
  call(operation, input).catch(({ code, message, details }: ServiceError) => ({ code, message, details }));

/** A valid input of each operation, about one node and one file. */
const inputOf: Readonly<Record<string, (node_id: string, file_id: string) => object>> = {
  setup_remote: () => ({ name: 'store', type: 'objstore', config: { bucket: 'b' } }),
  test_remote: () => ({ name: 'store' }),
  remove_remote: () => ({ name: 'store' }),
  set_routing_policy: () => ({ rules: [] }),
  store_file: (node_id) => ({ node_id, local_path: '/etc/hostname' }),
  store_files: (node_id) => ({ node_id, local_paths: ['/etc/hostname'] }),
  pull_file: (node_id, file_id) => ({ node_id, file_id }),
  pull_files: (node_id, file_id) => ({ node_id, file_ids: [file_id] }),
  snapshot_document: (node_id) => ({ node_id, doc_url: 'https://docs.example/d/1' }),
  sync_node: (node_id) => ({ node_id }),
  resolve_file: (node_id, file_id) => ({ node_id, file_id, action: 'keep_local' }),
};

describe('remote storage where there is none', () => {
  it.each(REMOTE_OPERATIONS.map((operation) => ({ name: operation.name, operation })))(
    'refuses $name in the same words whatever node it names, and tells nothing of it [sync.mode.local-refuses-remote]',
    async ({ operation }) => {
      const [one, other] = [newId(), newId()];
      const told = await refusal(operation, inputOf[operation.name]?.(one, newId()) ?? {});
      expect(told).toMatchObject({ code: 'LOCAL_MODE_NO_REMOTE' });
      expect(await refusal(operation, inputOf[operation.name]?.(other, newId()) ?? {})).toEqual(told);
      expect(JSON.stringify(told)).not.toContain(one);
    },
  );

  it.each(REMOTE_OPERATIONS.map((operation) => ({ name: operation.name, operation })))(
    'refuses $name whatever it is given, and tells only of fields that it does not know',
    async ({ operation }) => {
      const wrong = Object.fromEntries(Object.keys(operation.input.shape).map((field) => [field, [null]]));
      for (const input of [{}, wrong])
        expect(await refusal(operation, input)).toMatchObject({ code: 'LOCAL_MODE_NO_REMOTE' });
      expect(await refusal(operation, { nope: true })).toMatchObject({ code: 'VALIDATION_FAILED' });
    },
  );

  it('has no remote in its list, for anybody who may read, and no rule', async () => {
    expect(await call(listRemotes, {}, { ...MANAGER, scope: 'read' })).toEqual({ remotes: [] });
    expect(await call(listRoutingRules, {})).toEqual({ rules: [] });
  });
});
