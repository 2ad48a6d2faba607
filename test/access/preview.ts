import type { AccessPreview } from '@workspace-graph/contracts';
import { strongerAccess } from '@workspace-graph/domain';
import type { AccessTable, Name, World } from './world.js';

/** Nodes that users gain and lose by a change, as the rules say. */
export interface ExpectedPreview {
  readonly gains: ReadonlyMap<Name, readonly Name[]>;
  readonly loses: ReadonlyMap<Name, readonly Name[]>;
  readonly opens: number;
}

/** Nodes named for each user of a preview. */
const SAMPLE = 10;

/** Compares two moments over the nodes that are there at both, for every enabled user. */
export function expectedPreview(world: World, before: AccessTable, after: AccessTable): ExpectedPreview {
  const nodes = [...after.gates.keys()].filter((node) => before.gates.has(node));
  const isOpen = (table: AccessTable, node: Name): boolean => table.gates.get(node)?.length === 0;
  const more = (from: AccessTable, to: AccessTable, user: Name): Name[] =>
    nodes.filter((node) => {
      const [was, is] = [from.levels.get(user)?.get(node) ?? 'none', to.levels.get(user)?.get(node) ?? 'none'];
      return was !== is && strongerAccess(was, is) === is;
    });
  const users = [...world.users.keys()].filter((user) => !world.disabled.has(user));
  const perUser = (from: AccessTable, to: AccessTable): Map<Name, Name[]> =>
    new Map(users.map((user) => [user, more(from, to, user)] as const).filter(([, found]) => found.length > 0));
  return {
    gains: perUser(before, after),
    loses: perUser(after, before),
    opens: nodes.filter((node) => !isOpen(before, node) && isOpen(after, node)).length,
  };
}

export function widens({ gains, opens }: ExpectedPreview): boolean {
  return gains.size > 0 || opens > 0;
}

/** Fails unless the product's preview says the same; null stands for one that says nothing. */
export function checkPreview(world: World, preview: AccessPreview | null, expected: ExpectedPreview): void {
  const told = preview ?? { widens: false, gains: [], loses: [], opens_to_everyone: 0, complete: true };
  expect(told).toMatchObject({ widens: widens(expected), opens_to_everyone: expected.opens, complete: true });
  checkSide(world, told.gains, expected.gains);
  checkSide(world, told.loses, expected.loses);
}

function checkSide(world: World, told: AccessPreview['gains'], expected: ReadonlyMap<Name, readonly Name[]>): void {
  const idOf = (name: Name): string => world.nodes.get(name)?.id ?? name;
  const lines = new Map(told.map((line) => [line.user_id, line]));
  expect([...lines].map(([id, line]) => [id, line.node_count]).sort()).toEqual(
    [...expected].map(([user, nodes]) => [world.users.get(user)?.user_id, nodes.length]).sort(),
  );
  for (const [user, nodes] of expected) {
    const sample = lines.get(world.users.get(user)?.user_id ?? '')?.sample.map((node) => node.node_id) ?? [];
    expect(sample).toHaveLength(Math.min(nodes.length, SAMPLE));
    expect(nodes.map(idOf)).toEqual(expect.arrayContaining(sample));
  }
}
