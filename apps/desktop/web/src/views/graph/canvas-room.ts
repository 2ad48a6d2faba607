/** Side of a canvas that has room for nodes at their size; on a smaller one, less is left for their names. */
const NARROW = { px: 760, least: 0.7 } as const;

/** The part of its size in which a node is drawn on a canvas of so many pixels. */
export function roomOn(width: number, height: number): number {
  return Math.min(1, Math.max(NARROW.least, Math.min(width, height) / NARROW.px));
}
