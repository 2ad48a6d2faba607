import fc from 'fast-check';
import { draw, plain } from './drawn-graph.fixture.js';
import type { SnapshotAnswer, SnapshotContent } from './snapshot-content.js';
import { deltaOf } from './snapshot-delta.js';

/** A content over at most twelve nodes and four relations, ordered as the service orders it. */
const content: fc.Arbitrary<SnapshotContent> = fc
  .uniqueArray(fc.integer({ min: 0, max: 11 }), { maxLength: 12 })
  .chain((ids) => {
    const rows = [...ids].sort((a, b) => a - b).map((id) => `id-${String(id).padStart(2, '0')}`);
    const row = fc.nat({ max: Math.max(0, rows.length - 1) });
    const column = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
      fc.array(value, { minLength: rows.length, maxLength: rows.length });
    const small = column(fc.nat({ max: 1 }));
    return fc.record({
      nodes: fc.record({
        id: fc.constant(rows),
        name: column(fc.constantFrom('a', 'b')),
        type: small,
        lifecycle: small,
        health: small,
        organization: column(fc.constantFrom(-1, 0, 1)),
        x: column(fc.constantFrom(null, 1)),
        y: column(fc.constantFrom(null, 1.5)),
      }),
      organizations: fc.constantFrom(['o1', 'o2'], ['o2', 'o3'], ['o1', 'o3']),
      edges:
        rows.length === 0
          ? fc.constant([])
          : fc
              .uniqueArray(fc.tuple(row, row, fc.nat({ max: 3 })), { maxLength: 30, selector: String })
              .map((edges) => edges.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]).flat()),
    });
  });

const drawn = (full: boolean, part: Partial<SnapshotAnswer>): Omit<SnapshotAnswer, 'token'> => ({
  full,
  types: [],
  lifecycles: [],
  relations: [],
  organizations: [],
  edges: [],
  edges_added: [],
  edges_removed: [],
  removed: [],
  nodes: { id: [], name: [], type: [], lifecycle: [], health: [], organization: [], x: [], y: [] },
  ...part,
});

describe('the delta between two contents', () => {
  it('applied to the first gives the second, whatever they are [graph.snapshot.delta-since]', () => {
    fc.assert(
      fc.property(content, content, (before, after) => {
        const applied = draw(drawn(false, deltaOf(before, after)), draw(drawn(true, before)));
        expect(plain(applied)).toEqual(plain(draw(drawn(true, after))));
      }),
      { numRuns: 500 },
    );
  });

  it('of a content with itself is empty', () => {
    fc.assert(
      fc.property(content, (same) => {
        const delta = deltaOf(same, structuredClone(same));
        expect([delta.nodes.id, delta.edges_added, delta.edges_removed, delta.removed]).toEqual([[], [], [], []]);
      }),
    );
  });

  it('names only nodes that were seen before as removed', () => {
    fc.assert(
      fc.property(content, content, (before, after) => {
        const { removed } = deltaOf(before, after);
        expect(removed.every((id) => before.nodes.id.includes(id) && !after.nodes.id.includes(id))).toBe(true);
      }),
    );
  });
});
