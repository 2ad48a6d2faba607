/** A Markdown table. Cells are plain text. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(escaped))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Values as inline code. */
export function codes(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(', ');
}

/** Blocks with an empty line between them. */
export function page(...blocks: readonly string[]): string {
  return `${blocks.join('\n\n')}\n`;
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
