import {
  type Caller,
  isOffered,
  OPERATIONS,
  type Operation,
  SCOPES,
  type Scope,
  ServiceError,
  scopeIncludes,
} from '@workspace-graph/contracts';
import { newId, OperationRegistry } from '@workspace-graph/platform';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';

/** Reading that is administration, and so needs manage: people, the audit trail, the whole workspace as a document. */
const ADMINISTRATION = [
  'get_user',
  'list_users',
  'list_groups',
  'list_group_members',
  'list_audit',
  'list_imports',
  'list_routing_rules',
  'export_graph',
  'examine_workspace',
];

/** An agent's own scope, which never exceeds what its credential may. */
const READING_ON = ['expand_scope', 'init_session'];

let harness: ServiceHarness;
const callers = new Map<Scope, Caller>();
beforeAll(async () => {
  harness = await startServices([GraphModule, IdentityModule]);
  for (const scope of SCOPES) callers.set(scope, await harness.user(scope, scope));
});
afterAll(() => harness.close());

const offered = () => [...OPERATIONS.values()].filter(isOffered);

/** The scope that a call of this scope lacks; null when it is admitted, whatever comes of it then. */
async function lackingScope(operation: Operation, scope: Scope): Promise<unknown> {
  const { dispatch } = harness.module.get(OperationRegistry);
  const envelope = { callId: newId(), requestId: 'request', caller: callers.get(scope) ?? null };
  const call = dispatch(operation, { no_such_field: true }, { envelope, signal: new AbortController().signal });
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof ServiceError && error.code === 'FORBIDDEN' ? error.details?.['required_scope'] : null;
}

describe('the tier of an operation', () => {
  it('is read for everything that reads, administration aside [access.tier.reading-needs-read]', () => {
    const beyond = offered().filter((operation) => operation.readOnly && operation.tier !== 'read');
    expect(beyond.map((operation) => operation.name).sort()).toEqual([...ADMINISTRATION].sort());
  });

  it('is write or above for whatever starts or drives a session or changes a file; an agent may read on with read alone [access.tier.files-and-sessions-need-write]', () => {
    const changing = offered().filter(
      ({ readOnly, owner }) => !readOnly && ['session', 'file', 'device'].includes(owner),
    );
    expect(
      changing
        .filter(({ tier }) => tier === 'read')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(READING_ON);
    expect(changing.length).toBeGreaterThan(20);
  });

  it('admits its scope and what includes it, and nobody below [access.scope.ladder] [access.tier.reading-needs-read]', async () => {
    const served = harness.module.get(OperationRegistry).operations;
    for (const operation of offered().filter((each) => served.includes(each))) {
      for (const scope of SCOPES) {
        const admitted = scopeIncludes(scope, operation.tier);
        expect([operation.name, scope, await lackingScope(operation, scope)]).toEqual([
          operation.name,
          scope,
          admitted ? null : operation.tier,
        ]);
      }
    }
  });
});
