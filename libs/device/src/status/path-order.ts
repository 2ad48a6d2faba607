const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
const BEYOND_UNITS = 0x10000;

/** Compares paths by their UTF-8 bytes, the order in which the registry lists them. */
export function comparePaths(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at += 1) {
    const [unitA, unitB] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (unitA !== unitB) return rank(unitA) - rank(unitB);
  }
  return a.length - b.length;
}

/** Surrogates stand for characters beyond all that a single unit can hold. */
function rank(unit: number): number {
  return unit >= FIRST_SURROGATE && unit <= LAST_SURROGATE ? unit + BEYOND_UNITS : unit;
}
