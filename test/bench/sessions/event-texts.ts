/** What agents report, in the sizes that are usual: a line, some lines, a page. */
const LINE =
  'The supplier confirmed the date; the contract waits for its signature, and the board decides on Tuesday. ';
const LENGTHS = [1, 2, 3, 8];

/** Text of the event with this number. */
export function textOf(index: number): string {
  return LINE.repeat(LENGTHS[index % LENGTHS.length] ?? 1);
}
