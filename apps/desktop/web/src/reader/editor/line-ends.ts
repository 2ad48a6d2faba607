/** Whether every line ends as on Windows; mixed ends are kept as they are, each with its line. */
export function hasWindowsLines(text: string): boolean {
  return text.includes('\r\n') && !/(^|[^\r])\n/.test(text);
}
