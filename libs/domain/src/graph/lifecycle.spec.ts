import { Lifecycle, NODE_TYPES, NodeStatus, type NodeType } from '@workspace-graph/contracts';
import fc from 'fast-check';
import {
  archivedLifecycle,
  defaultLifecycle,
  isLifecycleOf,
  lifecycleChange,
  lifecyclesOf,
  restoredLifecycle,
  statusOf,
} from './lifecycle.js';

const aType = fc.constantFrom(...NODE_TYPES);
const aLifecycle = fc.constantFrom(...Lifecycle.options);
const aTypeWithTwoOfItsValues = aType.chain((type) =>
  fc.record({
    type: fc.constant(type),
    from: fc.constantFrom(...lifecyclesOf(type)),
    to: fc.constantFrom(...lifecyclesOf(type)),
  }),
);

describe('the lifecycle of a type', () => {
  it.each<{ rule: string; type: NodeType; first: Lifecycle; values: string }>([
    { rule: 'graph.lifecycle.organization', type: 'organization', first: 'active', values: 'active inactive archived' },
    {
      rule: 'graph.lifecycle.project',
      type: 'project',
      first: 'backlog',
      values: 'backlog planned in_progress on_hold done cancelled',
    },
    {
      rule: 'graph.lifecycle.process',
      type: 'process',
      first: 'not_implemented',
      values: 'not_implemented implementing operating at_risk broken retired',
    },
    { rule: 'graph.lifecycle.area', type: 'area', first: 'active', values: 'active needs_attention inactive archived' },
    { rule: 'graph.lifecycle.principle', type: 'principle', first: 'active', values: 'active archived' },
  ])('of $type has its values, begins with $first and allows no other [$rule]', ({ type, first, values }) => {
    expect(lifecyclesOf(type)).toEqual(values.split(' '));
    expect(defaultLifecycle(type)).toBe(first);
    expect(Lifecycle.options.filter((value) => isLifecycleOf(type, value)).sort()).toEqual(values.split(' ').sort());
  });

  it('leaves no value without a type', () => {
    const used = new Set(NODE_TYPES.flatMap((type) => lifecyclesOf(type)));
    expect([...used].sort()).toEqual([...Lifecycle.options].sort());
  });
});

describe('the status derived from a lifecycle', () => {
  const EXPECTED = {
    completed: ['done'],
    archived: ['archived', 'retired', 'cancelled', 'inactive'],
  };

  it('is completed for what is done, archived for what ended, otherwise active [graph.status.derived]', () => {
    for (const lifecycle of Lifecycle.options) {
      const archivedOrActive = EXPECTED.archived.includes(lifecycle) ? 'archived' : 'active';
      const status = EXPECTED.completed.includes(lifecycle) ? 'completed' : archivedOrActive;
      expect([lifecycle, statusOf(lifecycle)]).toEqual([lifecycle, status]);
    }
  });

  it('takes each of its three values and no other [graph.status.values]', () => {
    expect([...new Set(Lifecycle.options.map(statusOf))].sort()).toEqual([...NodeStatus.options].sort());
  });

  it('is active for a new node of every type', () => {
    expect(NODE_TYPES.map((type) => statusOf(defaultLifecycle(type)))).toEqual(NODE_TYPES.map(() => 'active'));
  });
});

describe('archiving and restoring', () => {
  it.each<[NodeType, Lifecycle]>([
    ['organization', 'archived'],
    ['project', 'cancelled'],
    ['process', 'retired'],
    ['area', 'archived'],
    ['principle', 'archived'],
  ])('archives a node of type %s as %s', (type, expected) => {
    expect(archivedLifecycle(type)).toBe(expected);
    expect(isLifecycleOf(type, expected)).toBe(true);
    expect(statusOf(expected)).toBe('archived');
  });

  it('restores the former lifecycle and falls back to the default', () => {
    expect(restoredLifecycle('project', 'in_progress')).toBe('in_progress');
    expect(restoredLifecycle('project', 'done')).toBe('done');
    expect(restoredLifecycle('project', null)).toBe('backlog');
    expect(restoredLifecycle('area', 'inactive')).toBe('active');
    expect(restoredLifecycle('area', 'operating')).toBe('active');
  });

  it('always restores to a value of the type that is not archived', () => {
    fc.assert(
      fc.property(aType, fc.option(aLifecycle), (type, former) => {
        const restored = restoredLifecycle(type, former);
        return isLifecycleOf(type, restored) && statusOf(restored) !== 'archived';
      }),
    );
  });
});

describe('a change of lifecycle', () => {
  it.each<[NodeType, Lifecycle, Lifecycle, string]>([
    ['project', 'backlog', 'in_progress', 'change'],
    ['project', 'in_progress', 'done', 'change'],
    ['project', 'done', 'backlog', 'change'],
    ['project', 'on_hold', 'on_hold', 'none'],
    ['project', 'planned', 'cancelled', 'archive'],
    ['project', 'cancelled', 'done', 'restore'],
    ['organization', 'inactive', 'archived', 'change'],
    ['process', 'retired', 'operating', 'restore'],
    ['area', 'active', 'inactive', 'archive'],
    ['principle', 'active', 'done', 'invalid'],
    ['project', 'backlog', 'archived', 'invalid'],
  ])('of a %s from %s to %s is: %s', (type, from, to, expected) => {
    expect(lifecycleChange(type, from, to)).toBe(expected);
  });

  it('is allowed between any two values of the type and is an archive or restore when archived is entered or left', () => {
    fc.assert(
      fc.property(aTypeWithTwoOfItsValues, ({ type, from, to }) => {
        const change = lifecycleChange(type, from, to);
        const statuses = [statusOf(from) === 'archived', statusOf(to) === 'archived'];
        expect(change === 'archive').toBe(!statuses[0] && statuses[1]);
        expect(change === 'restore').toBe(statuses[0] && !statuses[1]);
        expect(change).not.toBe('invalid');
      }),
    );
  });

  it('to a value of another type is invalid', () => {
    fc.assert(
      fc.property(aType, aLifecycle, (type, to) => {
        expect(lifecycleChange(type, defaultLifecycle(type), to) === 'invalid').toBe(!isLifecycleOf(type, to));
      }),
    );
  });
});
