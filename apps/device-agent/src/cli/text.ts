/** A text of somebody else, or from disk, as one line that a terminal shows and does not obey. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, escaped);
}

/** The same of a text of several lines: their ends, and tabs, stay. */
export function legible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[^\P{Cc}\n\t]/gu, escaped);
}

/** JSON that a terminal does not obey either: it may hold some of its characters as they are. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(/[\u007f-\u009f]/g, escaped);
}

function escaped(character: string): string {
  const text = JSON.stringify(character).slice(1, -1);
  return text === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : text;
}

/** Lines that belong to what stands before them. */
export function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

/** A number with the word for what is counted. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
