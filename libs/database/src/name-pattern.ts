/**
 * SQL of the pattern that finds a text anywhere in a folded name. Written as a sub-select, so that the text is folded
 * once per statement and not once per row.
 */
export const namePattern = (text: string): string =>
  `(SELECT '%' || regexp_replace(graph.fold(${text}), '([\\\\%_])', '\\\\\\1', 'g') || '%')`;
