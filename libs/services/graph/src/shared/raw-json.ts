import { RawJson } from '@workspace-graph/contracts';

/** An object whose values may be JSON text from the database, put together without parsing that. */
export function rawObject(fields: Readonly<Record<string, unknown>>): RawJson {
  const members = Object.entries(fields).map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`);
  return new RawJson(`{${members.join(',')}}`);
}

function textOf(value: unknown): string {
  return value instanceof RawJson ? value.text : JSON.stringify(value ?? null);
}
