const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** A number of bytes in the unit that suits it, as the language writes it. */
export function sizeText(bytes: number, language: string): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const maximumFractionDigits = step === 0 || bytes / 1_000 ** step >= 10 ? 0 : 1;
  const format = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: UNITS[step] ?? 'byte',
    // English has no plural of its short form.
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits,
  });
  return format.format(bytes / 1_000 ** step);
}
