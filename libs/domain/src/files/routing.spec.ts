import fc from 'fast-check';
import { inRoutingOrder, type RouteCondition, routeOf } from './routing.js';

const rule = (name: string, priority: number, node_type: string | null = null, org_slug: string | null = null) => ({
  name,
  priority,
  node_type,
  org_slug,
});
const project = { type: 'project', organizationKey: 'north' };

describe('where the files of a node are kept', () => {
  it.each([
    ['the rule for everything', [rule('all', 100)], 'all'],
    ['the lowest priority', [rule('all', 100), rule('north', 10, null, 'north')], 'north'],
    ['the rule that was given first, of one priority', [rule('first', 5), rule('second', 5)], 'first'],
    ['no rule for another type', [rule('processes', 1, 'process'), rule('all', 100)], 'all'],
    ['no rule for another organization', [rule('south', 1, null, 'south'), rule('all', 100)], 'all'],
    ['both conditions at once', [rule('a', 1, 'project', 'south'), rule('b', 2, 'project', 'north')], 'b'],
    ['nowhere without a rule', [rule('south', 1, null, 'south')], undefined],
    ['nowhere without rules', [], undefined],
  ])('is decided by %s [remotes.routing.first-match]', (_what, rules, expected) => {
    expect(routeOf(rules, project)?.name).toBe(expected);
  });

  it('is decided for a node without an organization by rules for any', () => {
    const rules = [rule('north', 1, null, 'north'), rule('all', 2)];
    expect(routeOf(rules, { type: 'organization', organizationKey: null })?.name).toBe('all');
  });

  it('is the first rule that fits, in an order that keeps that of equals', () => {
    const conditions = fc.record<RouteCondition>({
      priority: fc.integer({ min: 0, max: 3 }),
      node_type: fc.constantFrom(null, 'project', 'process'),
      org_slug: fc.constantFrom(null, 'north', 'south'),
    });
    fc.assert(
      fc.property(fc.array(conditions), (rules) => {
        const ordered = inRoutingOrder(rules);
        for (const [place, one] of ordered.entries()) {
          const next = ordered[place + 1];
          if (next) expect([one.priority, rules.indexOf(one)] <= [next.priority, rules.indexOf(next)]).toBe(true);
        }
        const chosen = routeOf(rules, project);
        const before = chosen ? ordered.slice(0, ordered.indexOf(chosen)) : ordered;
        const fits = ({ node_type, org_slug }: RouteCondition) =>
          [null, 'project'].includes(node_type) && [null, 'north'].includes(org_slug);
        expect(before.some(fits)).toBe(false);
        if (chosen) expect(fits(chosen)).toBe(true);
      }),
    );
  });
});
