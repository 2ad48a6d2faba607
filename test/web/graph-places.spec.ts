import fc from 'fast-check';
import { moveApart } from '../../apps/desktop/web/src/views/graph/apart.js';
import { roomOn } from '../../apps/desktop/web/src/views/graph/canvas-room.js';
import { boxOf, placesAmong, placesAround, Taken } from '../../apps/desktop/web/src/views/graph/name-places.js';

const CANVAS = { width: 400, height: 300 };
const NAME = { width: 80, height: 16 };
const coordinate = fc.double({ min: 0, max: 400, noNaN: true });
const spot = fc.record({
  x: coordinate,
  y: fc.double({ min: 0, max: 300, noNaN: true }),
  radius: fc.double({ min: 1, max: 12, noNaN: true }),
});
const box = fc
  .tuple(coordinate, coordinate, fc.integer({ min: 1, max: 120 }), fc.integer({ min: 1, max: 60 }))
  .map(([left, top, width, height]) => ({ left, top, right: left + width, bottom: top + height }));

describe('places of names', () => {
  it('a name is below its node, where there is room; else right, left or above', () => {
    const [below, right, left, above] = placesAround({ x: 200, y: 150, radius: 7 }, NAME, CANVAS);
    expect(below).toEqual({ left: 160, top: 160, right: 240, bottom: 176 });
    expect(right).toEqual({ left: 210, top: 142, right: 290, bottom: 158 });
    expect(left).toEqual({ left: 110, top: 142, right: 190, bottom: 158 });
    expect(above).toEqual({ left: 160, top: 124, right: 240, bottom: 140 });
  });

  it('no name leaves the canvas or is over its own node, wherever that is', () => {
    fc.assert(
      fc.property(spot, (node) => {
        const places = placesAround(node, NAME, CANVAS);
        const own = new Taken();
        own.add(boxOf(node));
        expect(places.length).toBeGreaterThan(0);
        for (const place of places) {
          expect([place.left >= 0, place.top >= 0, place.right <= 400, place.bottom <= 300]).not.toContain(false);
          expect(own.isFree(place)).toBe(true);
        }
      }),
    );
  });

  it('a name has the fewer places the more there are, and those beside its node always', () => {
    const [few, many, crowd] = [10, 1_000, 5_000].map((count) =>
      placesAround({ x: 200, y: 150, radius: 7 }, NAME, CANVAS, placesAmong(count, count === 5_000)),
    );
    expect(few?.length).toBeGreaterThan(many?.length ?? 0);
    expect(many?.length).toBeGreaterThan(crowd?.length ?? 0);
    expect(many?.slice(0, 4)).toEqual(few?.slice(0, 4));
    expect(crowd?.slice(0, 4)).toEqual(few?.slice(0, 4));
  });

  it('what is taken is found whatever it is far from, and nothing else is', () => {
    fc.assert(
      fc.property(fc.array(box, { maxLength: 20 }), box, (boxes, asked) => {
        const taken = new Taken();
        for (const one of boxes) taken.add(one);
        const isOver = boxes.some(
          ({ left, top, right, bottom }) =>
            left < asked.right && asked.left < right && top < asked.bottom && asked.top < bottom,
        );
        expect(taken.isFree(asked)).toBe(!isOver);
      }),
    );
  });
});

it('nodes are smaller on a canvas that has less room, down to a part of their size', () => {
  expect([roomOn(1_100, 852), roomOn(612, 852), roomOn(300, 852)]).toEqual([1, expect.closeTo(0.805, 2), 0.7]);
});

describe('nodes that overlap', () => {
  const farBetween = (places: Float32Array, a: number, b: number): number =>
    Math.hypot((places[a * 2] ?? 0) - (places[b * 2] ?? 0), (places[a * 2 + 1] ?? 0) - (places[b * 2 + 1] ?? 0));

  it('move apart until none is over another, also where all lie at one point', () => {
    const count = 60;
    const places = new Float32Array(count * 2).fill(5);
    const radii = Float32Array.from({ length: count }, (_, row) => 1 + (row % 3));
    moveApart({ places, radii, fixed: new Uint8Array(count) });
    for (let a = 0; a < count; a++)
      for (let b = 0; b < a; b++)
        expect(farBetween(places, a, b)).toBeGreaterThan(((radii[a] ?? 0) + (radii[b] ?? 0)) * 0.99);
  });

  it('those that somebody has put somewhere stay there, even over each other, and so do those with room', () => {
    const places = Float32Array.of(0, 0, 1, 0, 0.5, 0, 50, 50);
    moveApart({ places, radii: Float32Array.of(2, 2, 2, 2), fixed: Uint8Array.of(1, 1, 0, 0) });
    expect([...places.subarray(0, 4), ...places.subarray(6)]).toEqual([0, 0, 1, 0, 50, 50]);
    expect(farBetween(places, 0, 2)).toBeGreaterThan(3.9);
    expect(farBetween(places, 1, 2)).toBeGreaterThan(3.9);
  });
});
