const COLOURS: Readonly<Record<string, number>> = { fatal: 31, error: 31, warn: 33, info: 32, debug: 36, trace: 90 };

/** Makes of one JSON line a line for people. Text that is no JSON object stays as it is. */
export function pretty(line: string): string {
  const fields = parse(line);
  if (!fields) return line;
  const { time, level, message, err, process: _process, pid: _pid, ...rest } = fields;
  const label = String(level);
  const clock = String(time).slice(11, 23);
  const details = Object.entries(rest).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${clock} \u001b[${COLOURS[label] ?? 0}m${label.padEnd(5)}\u001b[0m ${String(message ?? '')}${details.join('')}\n${stackOf(err)}`;
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function stackOf(err: unknown): string {
  return typeof err === 'object' && err !== null && 'stack' in err ? `${String(err.stack)}\n` : '';
}
