/** How often both sides take turns. */
const ROUNDS = 6;

/** Measures two sides in turns, each first as often as the other, after one round that counts for nothing. */
export async function inTurns<T>(
  product: () => Promise<T>,
  beside: () => Promise<T>,
  rounds = ROUNDS,
): Promise<{ readonly product: T[]; readonly beside: T[] }> {
  await product();
  await beside();
  const found = { product: [] as T[], beside: [] as T[] };
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) found.product.push(await product());
    found.beside.push(await beside());
    if (round % 2 === 1) found.product.push(await product());
  }
  return found;
}

export const TURNS = ROUNDS;
