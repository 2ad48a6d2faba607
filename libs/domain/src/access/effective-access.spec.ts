import type { NodeType, Scope } from '@workspace-graph/contracts';
import fc from 'fast-check';
import {
  type AccessModel,
  type AccessNode,
  type AccessRecipient,
  type EffectiveAccess,
  effectiveAccess,
  gatesOf,
  strongerAccess,
  weakerAccess,
} from './effective-access.js';

const ORGANIZATION = 'org';
type Sharing = Partial<Pick<AccessNode, 'visibility' | 'recipients' | 'ownerUserId' | 'createdBy'>>;

const open: Sharing = { visibility: 'everyone' };
const hidden: Sharing = { visibility: 'private' };
const sharedWith = (...recipients: AccessRecipient[]): Sharing => ({ visibility: 'group', recipients });
const reader = (principalId: string): AccessRecipient => ({ principalId, access: 'read' });
const writer = (principalId: string): AccessRecipient => ({ principalId, access: 'write' });

function node(id: string, sharing: Sharing = {}, type: NodeType = 'area'): AccessNode {
  const organizationId = type === 'organization' ? null : ORGANIZATION;
  return { id, type, organizationId, visibility: null, recipients: [], ...sharing };
}

interface Given {
  org?: Sharing;
  nodes: Record<string, Sharing>;
  /** Lines such as `child parent`. */
  parents?: string[];
  groups?: Record<string, string[]>;
}

function modelOf({ org, nodes, parents = [], groups = {} }: Given): AccessModel {
  return {
    nodes: [
      node(ORGANIZATION, org, 'organization'),
      ...Object.entries(nodes).map(([id, sharing]) => node(id, sharing)),
    ],
    parents: parents.map((line) => {
      const [childId = '', parentId = ''] = line.split(' ');
      return { childId, parentId };
    }),
    memberships: Object.entries(groups).flatMap(([groupId, members]) => members.map((userId) => ({ userId, groupId }))),
  };
}

function accessOf(given: Given, userId: string, nodeId: string, scope: Scope = 'write'): EffectiveAccess | undefined {
  return effectiveAccess(modelOf(given), { userId, scope }).get(nodeId);
}

describe('the effective access of a node', () => {
  it.each<[string, Given, Record<string, EffectiveAccess>]>([
    ['is open when nothing is set anywhere', { nodes: { n: {} } }, { ann: 'write' }],
    [
      'follows its own private setting',
      { nodes: { n: { ...hidden, ownerUserId: 'ann', createdBy: 'bob' } } },
      { ann: 'write', bob: 'write', eve: 'none' },
    ],
    [
      'gives a private node to no recipient',
      { nodes: { n: { ...hidden, recipients: [writer('ann')] } } },
      { ann: 'none' },
    ],
    [
      'follows its own group with each access',
      { nodes: { n: sharedWith(reader('ann'), writer('bob')) } },
      { ann: 'read', bob: 'write', eve: 'none' },
    ],
    [
      'gives members what their group has',
      { nodes: { n: sharedWith(reader('team')) }, groups: { team: ['ann'] } },
      { ann: 'read', eve: 'none', team: 'read' },
    ],
    [
      'takes the best of several grants of one list',
      { nodes: { n: sharedWith(reader('ann'), writer('team')) }, groups: { team: ['ann'] } },
      { ann: 'write' },
    ],
    [
      'lets owner and creator write whatever their grant is',
      { nodes: { n: { ...sharedWith(reader('ann')), ownerUserId: 'ann' } } },
      { ann: 'write' },
    ],
    ["is nobody's under a group without recipients", { nodes: { n: sharedWith() } }, { ann: 'none' }],
    [
      'follows the organization when nothing lies between',
      { org: sharedWith(reader('ann')), nodes: { n: {} } },
      { ann: 'read', eve: 'none' },
    ],
    ['follows an organization that is open', { org: open, nodes: { n: {} } }, { eve: 'write' }],
    [
      'follows a private organization through its creator',
      { org: { ...hidden, createdBy: 'ann' }, nodes: { n: {} } },
      { ann: 'write', eve: 'none' },
    ],
    ['ignores the organization once it has its own setting', { org: hidden, nodes: { n: open } }, { eve: 'write' }],
    [
      'follows the nearest ancestor with a setting',
      { nodes: { n: {}, p: sharedWith(reader('ann')), g: hidden }, parents: ['n p', 'p g'] },
      { ann: 'read', eve: 'none' },
    ],
    [
      'looks through ancestors without a setting',
      { nodes: { n: {}, p: {}, g: hidden }, parents: ['n p', 'p g'] },
      { eve: 'none' },
    ],
    ['does not inherit from what belongs to it', { nodes: { n: {}, c: hidden }, parents: ['c n'] }, { eve: 'write' }],
    [
      'gives the creator of an inheriting node nothing by that',
      { nodes: { n: { createdBy: 'ann' }, p: hidden }, parents: ['n p'] },
      { ann: 'none' },
    ],
    [
      'gives the owner of the deciding ancestor access below it',
      { nodes: { n: {}, p: { ...hidden, ownerUserId: 'ann' } }, parents: ['n p'] },
      { ann: 'write' },
    ],
  ])('%s', (_name, given, expected) => {
    for (const [userId, access] of Object.entries(expected))
      expect([userId, accessOf(given, userId, 'n')]).toEqual([userId, access]);
  });

  it.each<[string, Given, Record<string, EffectiveAccess>]>([
    [
      'asks every restricted ancestor',
      {
        nodes: { n: {}, p: sharedWith(reader('ann'), reader('bob')), q: sharedWith(reader('ann')) },
        parents: ['n p', 'n q'],
      },
      { ann: 'read', bob: 'none' },
    ],
    [
      'gives the weakest of what they grant',
      { nodes: { n: {}, p: sharedWith(writer('ann')), q: sharedWith(reader('ann')) }, parents: ['n p', 'n q'] },
      { ann: 'read' },
    ],
    [
      'is not opened by an open parent',
      { nodes: { n: {}, p: hidden, q: open }, parents: ['n p', 'n q'] },
      { eve: 'none' },
    ],
    [
      'is not opened by a parent without setting',
      { nodes: { n: {}, p: hidden, q: {} }, parents: ['n p', 'n q'] },
      { eve: 'none' },
    ],
    [
      'is open when every path ends in an open setting',
      { org: hidden, nodes: { n: {}, p: open, q: open }, parents: ['n p', 'n q'] },
      { eve: 'write' },
    ],
    [
      'follows the organization when one path meets no setting',
      { org: hidden, nodes: { n: {}, p: open, q: {} }, parents: ['n p', 'n q'] },
      { eve: 'none' },
    ],
    [
      'leaves the organization out when an ancestor is restricted',
      { org: hidden, nodes: { n: {}, p: sharedWith(reader('ann')), q: {} }, parents: ['n p', 'n q'] },
      { ann: 'read' },
    ],
    [
      'stops a path at an open ancestor below a restricted one',
      { nodes: { n: {}, p: open, g: hidden }, parents: ['n p', 'p g'] },
      { eve: 'write' },
    ],
    [
      'still finds the restricted ancestor over a path beside the open one',
      { nodes: { n: {}, p: open, q: {}, g: hidden }, parents: ['n p', 'n q', 'p g', 'q g'] },
      { eve: 'none' },
    ],
    [
      'counts both a parent and its own ancestor when each is reached',
      {
        nodes: { n: {}, p: sharedWith(reader('ann'), reader('bob')), g: sharedWith(reader('ann')) },
        parents: ['n p', 'p g', 'n g'],
      },
      { ann: 'read', bob: 'none' },
    ],
  ])('with several parents %s', (_name, given, expected) => {
    for (const [userId, access] of Object.entries(expected))
      expect([userId, accessOf(given, userId, 'n')]).toEqual([userId, access]);
  });

  it('of an organization follows its own setting alone', () => {
    expect(accessOf({ nodes: {} }, 'eve', ORGANIZATION)).toBe('write');
    expect(accessOf({ org: sharedWith(reader('ann')), nodes: {} }, 'ann', ORGANIZATION)).toBe('read');
    expect(accessOf({ org: sharedWith(reader('ann')), nodes: {} }, 'eve', ORGANIZATION)).toBe('none');
  });

  it('is capped by the scope of the credential, and manage passes every gate', () => {
    const given: Given = { nodes: { n: sharedWith(writer('ann')) } };
    const scopes: Scope[] = ['read', 'write', 'manage'];
    expect(scopes.map((scope) => accessOf(given, 'ann', 'n', scope))).toEqual(['read', 'write', 'write']);
    expect(scopes.map((scope) => accessOf(given, 'eve', 'n', scope))).toEqual(['none', 'none', 'write']);
  });

  it('names the nodes that decide', () => {
    const model = modelOf({ org: hidden, nodes: { n: {}, p: hidden, q: open, r: {} }, parents: ['n p', 'n q', 'r q'] });
    const gates = (id: string) =>
      model.nodes.filter((one) => one.id === id).flatMap((one) => gatesOf(model, one).map((gate) => gate.id));
    expect(gates('n')).toEqual(['p']);
    expect(gates('r')).toEqual([]);
    expect(gates('q')).toEqual([]);
    expect(gates(ORGANIZATION)).toEqual([ORGANIZATION]);
  });
});

// ---- properties over random workspaces

const USERS = ['ann', 'bob', 'eve'];
const GROUPS = ['team', 'board'];
const NODE_COUNT = 8;
const IDS = Array.from({ length: NODE_COUNT }, (_, index) => `n${index}`);

const aPrincipal = fc.constantFrom(...USERS, ...GROUPS);
const aMaybeUser = fc.option(fc.constantFrom(...USERS));
const aSharing = fc.record({
  visibility: fc.constantFrom(null, null, 'everyone', 'private', 'group'),
  recipients: fc.uniqueArray(fc.record({ principalId: aPrincipal, access: fc.constantFrom('read', 'write') }), {
    selector: (recipient) => recipient.principalId,
    maxLength: 3,
  }),
  ownerUserId: aMaybeUser,
  createdBy: aMaybeUser,
});
/** Parents have the smaller number, so no cycle can arise. */
const aParentEdge = fc
  .tuple(fc.nat(NODE_COUNT - 1), fc.nat(NODE_COUNT - 1))
  .filter(([child, parent]) => parent < child)
  .map(([child, parent]) => ({ childId: `n${child}`, parentId: `n${parent}` }));
const aModel: fc.Arbitrary<AccessModel> = fc
  .record({
    org: aSharing,
    sharings: fc.array(aSharing, { minLength: NODE_COUNT, maxLength: NODE_COUNT }),
    parents: fc.uniqueArray(aParentEdge, { selector: (edge) => `${edge.childId} ${edge.parentId}`, maxLength: 14 }),
    memberships: fc.uniqueArray(fc.record({ userId: fc.constantFrom(...USERS), groupId: fc.constantFrom(...GROUPS) }), {
      selector: (membership) => `${membership.userId} ${membership.groupId}`,
      maxLength: 4,
    }),
  })
  .map(({ org, sharings, parents, memberships }) => ({
    nodes: [
      node(ORGANIZATION, org as Sharing, 'organization'),
      ...IDS.map((id, index) => node(id, sharings[index] as Sharing)),
    ],
    parents,
    memberships,
  }));
const aCaller = fc.record({ userId: fc.constantFrom(...USERS), scope: fc.constantFrom<Scope>('read', 'write') });
const anId = fc.constantFrom(...IDS);

function withNode(model: AccessModel, id: string, change: Sharing): AccessModel {
  return { ...model, nodes: model.nodes.map((one) => (one.id === id ? { ...one, ...change } : one)) };
}

function expectNowhereStronger(after: Map<string, EffectiveAccess>, before: Map<string, EffectiveAccess>) {
  for (const [id, access] of after) {
    const former = before.get(id) ?? 'none';
    expect([id, strongerAccess(access, former)]).toEqual([id, former]);
  }
}

/** The same rules told the other way round: spread upwards over nodes without a setting, then judge what was met. */
function gateIdsBySpreading(model: AccessModel, start: AccessNode): string[] {
  const byId = new Map(model.nodes.map((one) => [one.id, one]));
  const met = new Set([start.id]);
  let reachedTop = false;
  for (const id of met) {
    if (byId.get(id)?.visibility !== null) continue;
    const above = model.parents.filter((edge) => edge.childId === id).map((edge) => edge.parentId);
    reachedTop ||= above.length === 0;
    for (const parentId of above) met.add(parentId);
  }
  const restricted = (id: string) => ['private', 'group'].includes(byId.get(id)?.visibility ?? '');
  const gates = [...met].filter(restricted);
  if (gates.length > 0 || !reachedTop || start.organizationId === null) return gates;
  return restricted(start.organizationId) ? [start.organizationId] : [];
}

describe('in every workspace', () => {
  it('the deciding nodes are those that spreading upwards meets', () => {
    fc.assert(
      fc.property(aModel, (model) => {
        for (const one of model.nodes) {
          expect(
            gatesOf(model, one)
              .map((gate) => gate.id)
              .sort(),
          ).toEqual(gateIdsBySpreading(model, one).sort());
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('manage may do everything', () => {
    fc.assert(
      fc.property(aModel, fc.constantFrom(...USERS), (model, userId) => {
        expect(new Set(effectiveAccess(model, { userId, scope: 'manage' }).values())).toEqual(new Set(['write']));
      }),
    );
  });

  it('a read credential sees exactly what a write credential sees and writes nowhere', () => {
    fc.assert(
      fc.property(aModel, fc.constantFrom(...USERS), (model, userId) => {
        const written = effectiveAccess(model, { userId, scope: 'write' });
        const expected = [...written].map(([id, access]) => [id, weakerAccess(access, 'read')]);
        expect([...effectiveAccess(model, { userId, scope: 'read' })]).toEqual(expected);
      }),
    );
  });

  it('a node with its own setting is untouched by any change elsewhere', () => {
    fc.assert(
      fc.property(aModel, aModel, anId, aCaller, (model, other, id, caller) => {
        const own = model.nodes.find((one) => one.id === id);
        fc.pre(own !== undefined && own.visibility !== null);
        const elsewhere = {
          ...other,
          memberships: model.memberships,
          nodes: other.nodes.map((one) => (one.id === id && own ? own : one)),
        };
        expect(effectiveAccess(elsewhere, caller).get(id)).toBe(effectiveAccess(model, caller).get(id));
      }),
    );
  });

  it('a removed recipient or member widens nothing', () => {
    fc.assert(
      fc.property(aModel, anId, aCaller, (model, id, caller) => {
        const before = effectiveAccess(model, caller);
        const recipients = model.nodes.find((one) => one.id === id)?.recipients.slice(1) ?? [];
        expectNowhereStronger(effectiveAccess(withNode(model, id, { recipients }), caller), before);
        expectNowhereStronger(effectiveAccess({ ...model, memberships: model.memberships.slice(1) }, caller), before);
      }),
    );
  });

  it('making a restricted node private widens nothing, and opening it does not narrow the node itself', () => {
    fc.assert(
      fc.property(aModel, anId, aCaller, (model, id, caller) => {
        const isRestricted = model.nodes.some(
          (one) => one.id === id && (one.visibility === 'group' || one.visibility === 'private'),
        );
        fc.pre(isRestricted);
        const before = effectiveAccess(model, caller);
        expectNowhereStronger(effectiveAccess(withNode(model, id, hidden), caller), before);
        expect(effectiveAccess(withNode(model, id, open), caller).get(id)).toBe(caller.scope);
      }),
    );
  });

  it('the order of nodes, edges, members and recipients does not matter', () => {
    fc.assert(
      fc.property(aModel, aCaller, (model, caller) => {
        const reversed = {
          nodes: model.nodes.map((one) => ({ ...one, recipients: one.recipients.toReversed() })).toReversed(),
          parents: model.parents.toReversed(),
          memberships: model.memberships.toReversed(),
        };
        expect(new Map([...effectiveAccess(reversed, caller)].toReversed())).toEqual(effectiveAccess(model, caller));
      }),
    );
  });
});
