/** A text in which handles stand as such, like @thockin, with the handles alone. */
export function withoutAtSigns(text: string): string {
  return text.replace(/(?<=^|\s)@+(?=[^\s@])/gu, '');
}
