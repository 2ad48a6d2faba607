import { gzipSync } from 'node:zlib';
import {
  addResponsibility,
  approveAccessRequest,
  authenticate,
  type Caller,
  changeGroupMembers,
  connect,
  createActor,
  createGroup,
  createNode,
  createToken,
  createUser,
  deleteActor,
  deleteGroup,
  type ErrorCode,
  editEvent,
  type InputOf,
  logEvent,
  moveNode,
  type Operation,
  type OutputOf,
  purgeNode,
  putImportPart,
  refuseAccessRequest,
  removeResponsibility,
  requestAccess,
  runImport,
  ServiceError,
  setAccess,
  setPositions,
  supersedeEvent,
  updateActor,
  updateGroup,
  updateNode,
  updateUser,
  withdrawAccessRequest,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import type { ServiceHarness } from '@workspace-graph/testing';
import type { Random } from './random.js';

type Change = (random: Random) => Promise<unknown>;

/** A workspace in which people, providers and documents change everything at once. */
export class Crowd {
  readonly ids = {
    node: [] as string[],
    organization: [] as string[],
    user: [] as string[],
    group: [] as string[],
    actor: [] as string[],
    event: [] as string[],
    duty: [] as string[],
    request: [] as string[],
  };
  readonly codes = new Set<ErrorCode>();
  readonly faults: unknown[] = [];

  constructor(
    private readonly services: ServiceHarness,
    private readonly managers: readonly [Caller, ...Caller[]],
  ) {}

  async settle(random: Random): Promise<void> {
    const first = [this.makeOrganization, this.makeUser, this.makeGroup, this.makeActor, this.makeNode, this.log];
    for (let round = 0; round < 8; round += 1) for (const make of first) await this.attempt(make, random);
  }

  /** Makes random changes, one after the other. */
  async work(random: Random, changes: number): Promise<void> {
    for (let n = 0; n < changes; n += 1) await this.attempt(random.pick(this.changes), random);
  }

  private async attempt(change: Change, random: Random): Promise<void> {
    try {
      await change(random);
    } catch (error) {
      if (error instanceof ServiceError) this.codes.add(error.code);
      else this.faults.push(error);
    }
  }

  private call<Op extends Operation>(operation: Op, input: InputOf<Op>, caller?: Caller): Promise<OutputOf<Op>> {
    return this.services.call(operation, input, caller ?? this.managers[0]);
  }

  private pick(random: Random, kind: keyof Crowd['ids']): string {
    return random.maybe(this.ids[kind]) ?? newId();
  }
  private any(random: Random): string {
    return this.pick(random, random.chance(0.8) ? 'node' : 'organization');
  }
  private boss(random: Random): Caller {
    return random.pick(this.managers);
  }

  private readonly makeOrganization = async (random: Random) => {
    this.ids.organization.push(
      (await this.call(createNode, { type: 'organization', name: `O${random.int(9)}` }, this.boss(random))).id,
    );
  };
  private readonly makeNode = async (random: Random) => {
    const input = {
      type: 'area' as const,
      name: `N${random.int(5)}`,
      organization_id: this.pick(random, 'organization'),
      owner_id: random.chance(0.5) ? this.pick(random, 'actor') : null,
      parent_ids: random.chance(0.5) ? [this.pick(random, 'node')] : [],
      visibility: random.pick([null, null, 'private', 'group', 'everyone'] as const),
    };
    this.ids.node.push((await this.call(createNode, input, this.boss(random))).id);
  };
  private readonly makeUser = async (random: Random) => {
    this.ids.user.push((await this.call(createUser, { name: `U${random.int(9)}` }, this.boss(random))).id);
  };
  private readonly makeGroup = async (random: Random) => {
    this.ids.group.push(
      (
        await this.call(
          createGroup,
          { name: `G${random.int(99)}`, claim: random.chance(0.5) ? `c${random.int(4)}` : null },
          this.boss(random),
        )
      ).id,
    );
  };
  private readonly makeActor = async (random: Random) => {
    this.ids.actor.push(
      (
        await this.call(
          createActor,
          { type: 'person', name: `A${random.int(9)}`, user_id: random.chance(0.3) ? this.pick(random, 'user') : null },
          this.boss(random),
        )
      ).id,
    );
  };
  private readonly log = async (random: Random) => {
    this.ids.event.push(
      (await this.call(logEvent, { node_id: this.any(random), kind: 'note', content: 'x' }, this.boss(random))).id,
    );
  };

  private readonly changes: readonly Change[] = [
    this.makeNode,
    this.makeNode,
    this.makeUser,
    this.makeGroup,
    this.makeActor,
    this.log,
    this.log,
    (random) => this.call(setAccess, this.sharing(random), this.boss(random)),
    (random) => this.call(setAccess, this.sharing(random), this.boss(random)),
    (random) =>
      this.call(
        connect,
        {
          source_id: this.any(random),
          target_id: this.any(random),
          relation: random.pick(['belongs_to', 'applies'] as const),
          confirmed: true,
        },
        this.boss(random),
      ),
    (random) =>
      this.call(
        moveNode,
        { node_id: this.any(random), organization_id: this.pick(random, 'organization'), confirmed: true },
        this.boss(random),
      ),
    (random) => this.call(purgeNode, { node_id: this.any(random), confirmed: true }, this.boss(random)),
    (random) =>
      this.call(
        updateNode,
        { node_id: this.any(random), owner_id: this.pick(random, 'actor'), name: `R${random.int(5)}`, confirmed: true },
        this.boss(random),
      ),
    (random) =>
      this.call(
        updateActor,
        {
          actor_id: this.pick(random, 'actor'),
          user_id: random.chance(0.5) ? this.pick(random, 'user') : null,
          confirmed: true,
        },
        this.boss(random),
      ),
    (random) =>
      this.call(
        deleteActor,
        { actor_id: this.pick(random, 'actor'), reassign_to: this.pick(random, 'actor'), confirmed: true },
        this.boss(random),
      ),
    (random) =>
      this.call(
        changeGroupMembers,
        {
          group_id: this.pick(random, 'group'),
          add: [this.pick(random, 'user'), this.boss(random).user_id],
          confirmed: true,
        },
        this.boss(random),
      ),
    (random) =>
      this.call(
        changeGroupMembers,
        { group_id: this.pick(random, 'group'), remove: [this.pick(random, 'user')], confirmed: true },
        this.boss(random),
      ),
    (random) =>
      this.call(updateGroup, { group_id: this.pick(random, 'group'), name: `G${random.int(99)}` }, this.boss(random)),
    (random) =>
      this.call(updateGroup, { group_id: this.pick(random, 'group'), claim: `c${random.int(4)}` }, this.boss(random)),
    (random) => this.call(deleteGroup, { group_id: this.pick(random, 'group'), confirmed: true }, this.boss(random)),
    (random) =>
      this.call(
        updateUser,
        {
          user_id: random.pick([this.pick(random, 'user'), this.boss(random).user_id]),
          name: `U${random.int(99)}`,
          disabled: random.chance(0.2),
        },
        this.boss(random),
      ),
    (random) =>
      this.call(
        createToken,
        { label: 't', scope: 'read', user_id: random.pick([this.pick(random, 'user'), this.boss(random).user_id]) },
        this.boss(random),
      ),
    (random) => this.signIn(random),
    (random) => this.signIn(random),
    (random) => this.bring(random),
    (random) => this.bring(random),
    async (random) => {
      const caller = { ...this.boss(random), user_id: this.pick(random, 'user'), scope: 'read' as const };
      this.ids.request.push((await this.call(requestAccess, { node_id: this.any(random) }, caller)).id);
    },
    (random) =>
      this.call(
        approveAccessRequest,
        { access_request_id: this.pick(random, 'request'), confirmed: true },
        this.boss(random),
      ),
    (random) => this.call(refuseAccessRequest, { access_request_id: this.pick(random, 'request') }, this.boss(random)),
    (random) =>
      this.call(withdrawAccessRequest, { access_request_id: this.pick(random, 'request') }, this.boss(random)),
    async (random) =>
      void this.ids.duty.push(
        (
          await this.call(
            addResponsibility,
            { node_id: this.any(random), title: 'D', assignee_ids: [this.pick(random, 'actor')] },
            this.boss(random),
          )
        ).id,
      ),
    (random) => this.call(removeResponsibility, { responsibility_id: this.pick(random, 'duty') }, this.boss(random)),
    (random) =>
      this.call(editEvent, { event_id: this.pick(random, 'event'), content: `e${random.int(9)}` }, this.boss(random)),
    (random) =>
      this.call(supersedeEvent, { event_id: this.pick(random, 'event'), content: 'newer' }, this.boss(random)),
    (random) =>
      this.call(
        setPositions,
        {
          positions: [this.any(random), this.any(random), this.any(random)].map((node_id) => ({
            node_id,
            x: random.int(99),
            y: 1,
          })),
        },
        this.boss(random),
      ),
  ];

  private sharing(random: Random): InputOf<typeof setAccess> {
    const visibility = random.pick([null, 'everyone', 'private', 'group', 'group'] as const);
    const user = { kind: 'user' as const, id: this.pick(random, 'user') };
    const group = { kind: 'group' as const, id: this.pick(random, 'group') };
    return {
      node_id: this.any(random),
      visibility,
      recipients: visibility === 'group' ? [user, group] : [],
      confirmed: true,
    };
  }

  private signIn(random: Random): Promise<unknown> {
    const credential = {
      kind: 'oidc' as const,
      issuer: 'https://id',
      subject: `s${random.int(4)}`,
      name: 'S',
      groups: [`c${random.int(4)}`, `c${random.int(4)}`],
      scope: random.pick(['read', 'manage'] as const),
      expires_at: new Date(Date.now() + 60_000).toISOString(),
    };
    return this.call(authenticate, { credential });
  }

  private async bring(random: Random): Promise<unknown> {
    const n = random.int(3);
    const document = {
      format: 'workspace-graph/1',
      users: [{ key: `iu${n}`, name: 'I', max_scope: 'write', external_id: `iu${n}` }],
      groups: [{ key: `ig${n}`, name: `IG${n}`, members: [{ user: `iu${n}` }] }],
      actors: [{ key: `ia${n}`, type: 'person', name: `IA${random.int(9)}` }],
      nodes: [
        { key: 'io', type: 'organization', name: 'IO' },
        {
          key: `in${n}`,
          type: 'area',
          name: `IN${random.int(9)}`,
          organization: 'io',
          owner: `ia${n}`,
          sharing: random.pick([null, { visibility: 'group', recipients: [{ group: `ig${n}`, access: 'read' }] }]),
          responsibilities: [{ title: `T${random.int(3)}`, assignees: [`ia${n}`] }],
          tools: [{ name: `T${random.int(3)}` }],
        },
      ],
      events: [
        {
          key: `ie${n}`,
          node: `in${n}`,
          kind: 'note',
          content: `C${random.int(9)}`,
          occurred_at: '2026-01-01T00:00:00Z',
        },
      ],
    };
    const upload_id = newId();
    const boss = this.boss(random);
    await this.call(
      putImportPart,
      { upload_id, index: 0, data: gzipSync(JSON.stringify(document)).toString('base64') },
      boss,
    );
    const report = await this.call(runImport, { upload_id, parts: 1, confirmed: true }, boss);
    await this.learn(
      'organization',
      `SELECT id FROM graph.node WHERE import_key IS NOT NULL AND type = 'organization'`,
    );
    await this.learn('node', `SELECT id FROM graph.node WHERE import_key IS NOT NULL AND type <> 'organization'`);
    await this.learn('event', 'SELECT id FROM graph.event WHERE import_key IS NOT NULL');
    await this.learn('duty', 'SELECT id FROM graph.responsibility');
    return report;
  }

  /** Takes what documents brought in among the things that others change. */
  private async learn(kind: keyof Crowd['ids'], query: string): Promise<void> {
    const { rows } = await this.services.database.pool.query<{ id: string }>(query);
    this.ids[kind].push(...rows.map(({ id }) => id).filter((id) => !this.ids[kind].includes(id)));
  }
}
