/** Points with room around each, by rows. */
export interface Points {
  /** x and y of each row; changed in place. */
  readonly places: Float32Array;
  /** How far each row reaches. */
  readonly radii: Float32Array;
  /** 1: this row stays where it is. */
  readonly fixed: Uint8Array;
}

/** Rounds after which what still overlaps stays so. */
const MOST_ROUNDS = 60;
/** The golden angle: what lies at one point parts in different directions. */
const ANGLE = Math.PI * (3 - Math.sqrt(5));
/** More cells than points ever lie in a row. */
const ROW = 1_000_003;
/** Each pair of cells beside each other, once. */
const AFTER = [1, ROW - 1, ROW, ROW + 1] as const;

/** Moves points that overlap apart, by as little as it takes; those that are fixed stay. */
export function moveApart(points: Points): void {
  const cell = 2 * points.radii.reduce((most, radius) => Math.max(most, radius), 0);
  if (cell === 0) return;
  for (let round = 0; round < MOST_ROUNDS; round++) if (!moveOnce(points, cell)) return;
}

/** Answers whether anything moved. */
function moveOnce(points: Points, cell: number): boolean {
  let hasMoved = false;
  for (const [a, b] of nearPairs(points.places, cell)) if (part(points, a, b)) hasMoved = true;
  return hasMoved;
}

/** Each two rows of the same cell, or of cells beside each other, once. */
function* nearPairs(places: Float32Array, cell: number): Generator<readonly [number, number]> {
  const cells = Map.groupBy(
    Array.from({ length: places.length / 2 }, (_, row) => row),
    (row) => Math.floor((places[row * 2 + 1] ?? 0) / cell) * ROW + Math.floor((places[row * 2] ?? 0) / cell),
  );
  for (const [at, rows] of cells) {
    const after = AFTER.flatMap((step) => cells.get(at + step) ?? []);
    for (const [index, a] of rows.entries()) for (const b of [...rows.slice(index + 1), ...after]) yield [a, b];
  }
}

/** Moves two points apart where they overlap; answers whether they did, and could. */
function part({ places, radii, fixed }: Points, a: number, b: number): boolean {
  const [ax = 0, ay = 0] = places.subarray(a * 2, a * 2 + 2);
  const [bx = 0, by = 0] = places.subarray(b * 2, b * 2 + 2);
  const far = Math.hypot(bx - ax, by - ay);
  const lacking = (radii[a] ?? 0) + (radii[b] ?? 0) - far;
  const [aMoves, bMoves] = [1 - (fixed[a] ?? 0), 1 - (fixed[b] ?? 0)];
  // Numbers of this length are never exact.
  if (lacking <= far * 1e-4 || aMoves + bMoves === 0) return false;
  const [x, y] = far === 0 ? [Math.cos(b * ANGLE), Math.sin(b * ANGLE)] : [(bx - ax) / far, (by - ay) / far];
  const each = lacking / (aMoves + bMoves);
  places.set([ax - x * each * aMoves, ay - y * each * aMoves], a * 2);
  places.set([bx + x * each * bMoves, by + y * each * bMoves], b * 2);
  return true;
}
