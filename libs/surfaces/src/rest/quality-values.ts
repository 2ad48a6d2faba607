/**
 * The weights that a header such as Accept-Encoding or Accept-Language gives, by name in lower case: from 0, refused, to
 * 1, also what has none of its own.
 */
export function qualityValues(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.split(',')) {
    const [name = '', ...parameters] = item.split(';').map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    if (name !== '') weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  return weights;
}
