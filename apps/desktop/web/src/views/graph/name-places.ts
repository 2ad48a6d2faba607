/** A part of the canvas, in pixels. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** What a name belongs to. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Between a node and its name. */
const GAP_PX = 3;
/** How much of a name is left of its node where its middle is not. */
const SHIFTS = [0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9] as const;

/** Where room is looked for, beside the four places next to a node. */
interface Places {
  /** How much of a name is left of its node, below and above it. */
  readonly shifts: readonly number[];
  /** How much of its height a name beside its node is above or below it. */
  readonly lifts: readonly number[];
  /** How much farther from its node it may be, in pixels. */
  readonly farther: readonly number[];
}
const ALONE: Places = { shifts: SHIFTS, lifts: [-0.4, 0.4, -0.8, 0.8], farther: [5, 10, 15] };
const AMONG_MANY: Places = { shifts: SHIFTS, lifts: [], farther: [5, 10] };
const IN_A_CROWD: Places = { shifts: [0.3, 0.7, 0.1, 0.9], lifts: [], farther: [] };
/** From so many nodes on. */
const MANY = 500;
const CELL_PX = 48;
/** More cells than a canvas is wide. */
const ROW = 100_000;

/** The more nodes there are, the fewer places each name has: looking at all of them takes longer than a frame. */
export function placesAmong(count: number, isCrowded: boolean): Places {
  if (isCrowded) return IN_A_CROWD;
  return count < MANY ? ALONE : AMONG_MANY;
}

/** What is taken of the canvas, by where it is: only what is near is compared. */
export class Taken {
  private readonly cells = new Map<number, Box[]>();

  add(box: Box): void {
    for (const cell of cellsOf(box)) {
      const boxes = this.cells.get(cell);
      if (boxes) boxes.push(box);
      else this.cells.set(cell, [box]);
    }
  }

  isFree(box: Box): boolean {
    return cellsOf(box).every((cell) => !this.cells.get(cell)?.some((other) => isOver(box, other)));
  }
}

/**
 * Where a name may be: below its node, right, left or above it, then below and above with less of it on one side, beside it
 * at another height, and at last farther away. Beside the edge of the canvas it is moved in, never cut.
 */
export function placesAround(
  { x, y, radius }: Spot,
  { width, height }: Size,
  canvas: Size,
  { shifts, lifts, farther }: Places = ALONE,
): readonly Box[] {
  const far = radius + GAP_PX;
  const [below, above] = [y + far, y - far - height];
  const leftOf = (part: number) => Math.max(0, Math.min(x - part * width, canvas.width - width));
  const beside = (more: number, parts: readonly number[]) =>
    parts.flatMap((lift) =>
      [x + far + more, x - far - more - width].map((left) => [left, y + (lift - 0.5) * height] as const),
    );
  const corners = [
    [leftOf(0.5), below],
    ...beside(0, [0]),
    [leftOf(0.5), above],
    ...shifts.flatMap((part) => [below, above].map((top) => [leftOf(part), top] as const)),
    ...beside(0, lifts),
    ...farther.flatMap((more) => [
      ...[0.5, ...shifts].flatMap((part) => [below + more, above - more].map((top) => [leftOf(part), top] as const)),
      ...beside(more, [0, ...lifts]),
    ]),
  ] as const;
  return corners
    .map(([left, top]) => ({ left, top, right: left + width, bottom: top + height }))
    .filter((box) => box.left >= 0 && box.top >= 0 && box.right <= canvas.width && box.bottom <= canvas.height);
}

export function boxOf({ x, y, radius }: Spot): Box {
  return { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius };
}

function cellsOf({ left, top, right, bottom }: Box): number[] {
  const cells: number[] = [];
  for (let row = Math.floor(top / CELL_PX); row <= Math.floor(bottom / CELL_PX); row++)
    for (let column = Math.floor(left / CELL_PX); column <= Math.floor(right / CELL_PX); column++)
      cells.push(row * ROW + column);
  return cells;
}

function isOver(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
