import {
  type Caller,
  changeGroupMembers,
  connect,
  createActor,
  createGroup,
  createNode,
  disconnect,
  type ErrorCode,
  getNode,
  moveNode,
  purgeNode,
  ServiceError,
  setAccess,
  updateActor,
  updateNode,
} from '@workspace-graph/contracts';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { Random } from './random.js';

const ROUNDS = 25;
const AT_ONCE = 8;
const SEED = Number(process.env['SVC_PROPERTY_SEED'] ?? 1);
/** What one of several changes at once may run into. A deadlock or another failure is none of these. */
const EXPECTED: readonly ErrorCode[] = [
  'NODE_NOT_FOUND',
  'EDGE_NOT_FOUND',
  'EDGE_EXISTS',
  'EDGE_CYCLE',
  'ORG_INVARIANT',
  'CONFLICT',
  'IN_USE',
  'VALIDATION_FAILED',
];

/** A workspace that several people change at once. */
class Crowd {
  readonly nodes: string[] = [];
  readonly organizations: string[] = [];
  readonly edges: string[] = [];
  readonly groups: string[] = [];
  readonly actors: string[] = [];
  readonly users: Caller[] = [];

  constructor(
    readonly harness: ServiceHarness,
    readonly admin: Caller,
    readonly random: Random,
  ) {}

  async settle(): Promise<void> {
    const { harness, admin } = this;
    for (const name of ['Ann', 'Bob', 'Cyd', 'Dan']) this.users.push(await harness.user(name));
    for (const name of ['One', 'Two']) this.groups.push((await harness.call(createGroup, { name }, admin)).id);
    for (const name of ['Ann', 'Bob'])
      this.actors.push((await harness.call(createActor, { type: 'person', name }, admin)).id);
    for (const name of ['Acme', 'Globex'])
      this.organizations.push((await harness.call(createNode, { type: 'organization', name }, admin)).id);
    for (let index = 0; index < 14; index += 1) await this.create();
  }

  /** One random change, confirmed. */
  change(): Promise<unknown> {
    const { random } = this;
    const kind = random.weighted({
      share: 6,
      connect: 6,
      disconnect: 3,
      move: 3,
      own: 2,
      tie: 2,
      join: 3,
      create: 3,
      purge: 1,
    });
    switch (kind) {
      case 'share':
        return this.share();
      case 'connect':
        return this.connect();
      case 'disconnect':
        return this.call(disconnect, { edge_id: random.maybe(this.edges) ?? this.someNode(), confirmed: true });
      case 'move':
        return this.call(moveNode, {
          node_id: this.someNode(),
          organization_id: random.pick(this.organizations),
          confirmed: true,
        });
      case 'own':
        return this.call(updateNode, { node_id: this.someNode(), owner_id: random.pick(this.actors), confirmed: true });
      case 'tie':
        return this.call(updateActor, {
          actor_id: random.pick(this.actors),
          user_id: random.pick([null, ...this.users.map((user) => user.user_id)]),
          confirmed: true,
        });
      case 'join':
        return this.join();
      case 'create':
        return this.create();
      case 'purge':
        return this.call(purgeNode, { node_id: this.someNode(), confirmed: true });
    }
  }

  private someNode(): string {
    return this.random.pick([...this.nodes, ...this.nodes, ...this.organizations]);
  }

  private call(operation: Parameters<ServiceHarness['call']>[0], input: object): Promise<unknown> {
    return this.harness.call(operation, input as never, this.admin);
  }

  private share(): Promise<unknown> {
    const { random } = this;
    const visibility = random.pick([null, 'everyone', 'private', 'group'] as const);
    const recipients = [
      { kind: 'user' as const, id: random.pick(this.users).user_id, access: random.pick(['read', 'write'] as const) },
      { kind: 'group' as const, id: random.pick(this.groups), access: random.pick(['read', 'write'] as const) },
    ];
    return this.call(setAccess, {
      node_id: this.someNode(),
      visibility,
      recipients: visibility === 'group' ? recipients : [],
      confirmed: true,
    });
  }

  private async connect(): Promise<void> {
    const answer = await this.harness.call(
      connect,
      { source_id: this.someNode(), target_id: this.someNode(), relation: 'belongs_to', confirmed: true },
      this.admin,
    );
    if (answer.edge) this.edges.push(answer.edge.id);
  }

  private join(): Promise<unknown> {
    const [first, second] = [this.random.pick(this.users).user_id, this.random.pick(this.users).user_id];
    return this.call(changeGroupMembers, {
      group_id: this.random.pick(this.groups),
      add: [first],
      remove: first === second ? [] : [second],
      confirmed: true,
    });
  }

  private async create(): Promise<void> {
    const parents = this.nodes.length > 0 && this.random.chance(0.7) ? [this.random.pick(this.nodes)] : [];
    const { id } = await this.harness.call(
      createNode,
      {
        type: 'area',
        name: 'Area',
        organization_id: this.random.pick(this.organizations),
        parent_ids: parents,
        owner_id: this.random.pick(this.actors),
      },
      this.admin,
    );
    this.nodes.push(id);
  }
}

let harness: ServiceHarness;
let crowd: Crowd;
beforeAll(async () => {
  harness = await startServices([GraphModule, IdentityModule]);
  crowd = new Crowd(harness, await harness.user('Ada', 'manage'), new Random(SEED));
  await crowd.settle();
});
afterAll(() => harness.close());

/** Who passes each gate, and which gates each node has, as they are stored. */
async function storedAccess(): Promise<unknown> {
  const { rows } = await harness.database.pool.query(`
    SELECT (SELECT json_agg(json_build_array(g.gate_id, g.principal_id, g.access) ORDER BY g.gate_id, g.principal_id) FROM graph.gate_grant g) AS grants,
      (SELECT json_agg(json_build_array(n.id, s.gates) ORDER BY n.id) FROM graph.node n LEFT JOIN graph.access_set s ON s.id = n.access_set_id) AS nodes`);
  return rows;
}

describe('changes of access made at once', () => {
  it(`leave access as working it out anew does, and never run into each other (seed ${SEED}) [access.materialised.same-transaction]`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const done = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => crowd.change()));
      for (const one of done) {
        if (one.status === 'fulfilled') continue;
        if (!(one.reason instanceof ServiceError) || !EXPECTED.includes(one.reason.code)) throw one.reason;
      }
      const before = await storedAccess();
      const { rows } = await harness.database.pool.query(
        `SELECT graph.refresh_access(array_agg(n.id)) AS moved FROM graph.node n`,
      );
      expect(rows).toEqual([{ moved: 0 }]);
      expect(await storedAccess()).toEqual(before);
    }
  }, 300_000);

  it('that close a node and put another one under it show the other one to nobody', async () => {
    const {
      admin,
      users,
      organizations: [organization_id = ''],
    } = crowd;
    for (let round = 0; round < 5; round += 1) {
      const parent = await harness.call(
        createNode,
        { type: 'area', name: 'Parent', organization_id, visibility: 'everyone' },
        admin,
      );
      const [, child] = await Promise.all([
        harness.call(setAccess, { node_id: parent.id, visibility: 'private' }, admin),
        harness.call(createNode, { type: 'area', name: 'Child', organization_id, parent_ids: [parent.id] }, admin),
      ]);
      for (const user of users) await harness.refusal(getNode, { node_id: child.id }, user, 'NODE_NOT_FOUND');
    }
  });
});
