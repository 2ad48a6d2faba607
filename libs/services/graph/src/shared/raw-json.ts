import { type JsonFacts, RawJson } from '@workspace-graph/contracts';

/** An object whose values may be JSON text from the database, put together without parsing that. */
export function rawObject(fields: Readonly<Record<string, unknown>>): RawJson {
  const members = Object.entries(fields).map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`);
  return new RawJson(`{${members.join(',')}}`, factsOf(fields));
}

/** Those of the record that a change answers, and whether it was carried out. */
function factsOf({ applied, ...rest }: Readonly<Record<string, unknown>>): JsonFacts {
  if (typeof applied !== 'boolean') return {};
  const record = Object.values(rest).find((value) => value instanceof RawJson);
  return { ...record?.facts, applied };
}

function textOf(value: unknown): string {
  return value instanceof RawJson ? value.text : JSON.stringify(value ?? null);
}
