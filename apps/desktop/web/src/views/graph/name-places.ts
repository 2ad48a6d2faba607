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
/** How much farther from its node a name may be where it has no room beside it. */
const FARTHER_PX = [5, 10] as const;
/** Where there are many names, each has fewer places: looking at all of them takes longer than a frame. */
const IN_A_CROWD = { shifts: [0.3, 0.7, 0.1, 0.9], farther: [] } as const;
const CELL_PX = 48;
/** More cells than a canvas is wide. */
const ROW = 100_000;

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
 * Where a name may be: below its node, right, left or above it, then below and above with less of it on one side, and at last
 * farther away. Beside the edge of the canvas it is moved in, never cut.
 */
export function placesAround(
  { x, y, radius }: Spot,
  { width, height }: Size,
  canvas: Size,
  isCrowded = false,
): readonly Box[] {
  const { shifts, farther } = isCrowded ? IN_A_CROWD : { shifts: SHIFTS, farther: FARTHER_PX };
  const far = radius + GAP_PX;
  const [below, above] = [y + far, y - far - height];
  const leftOf = (part: number) => Math.max(0, Math.min(x - part * width, canvas.width - width));
  const corners = [
    [leftOf(0.5), below],
    [x + far, y - height / 2],
    [x - far - width, y - height / 2],
    [leftOf(0.5), above],
    ...shifts.flatMap((part) => [below, above].map((top) => [leftOf(part), top] as const)),
    ...farther.flatMap((more) =>
      [0.5, ...shifts].flatMap((part) => [below + more, above - more].map((top) => [leftOf(part), top] as const)),
    ),
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
