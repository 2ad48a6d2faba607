const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Made once for each language and unit: many rows have a size. */
const formats = new Map<string, Intl.NumberFormat>();

/** A number of bytes in the unit that suits it, as the language writes it. */
export function sizeText(bytes: number, language: string): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const amount = bytes / 1_000 ** step;
  return formatOf(language, step, step === 0 || amount >= 10 ? 0 : 1).format(amount);
}

function formatOf(language: string, step: number, maximumFractionDigits: number): Intl.NumberFormat {
  const key = `${language} ${step} ${maximumFractionDigits}`;
  const format =
    formats.get(key) ??
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit: UNITS[step] ?? 'byte',
      // English has no plural of its short form.
      unitDisplay: step === 0 ? 'long' : 'short',
      maximumFractionDigits,
    });
  formats.set(key, format);
  return format;
}
