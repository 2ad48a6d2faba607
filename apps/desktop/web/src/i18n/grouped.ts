/** Made once for each language: many rows have a number. */
const formats = new Map<string, Intl.NumberFormat>();

/** A number as the language writes it. */
export function grouped(value: number, language: string): string {
  const format = formats.get(language) ?? new Intl.NumberFormat(language);
  formats.set(language, format);
  return format.format(value);
}
