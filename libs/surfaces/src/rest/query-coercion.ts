import type { ObjectSchema } from '@workspace-graph/contracts';
import type { z } from 'zod';

/** Makes of the texts of one query parameter the value that its field means; what cannot be read stays as it is. */
type Coercion = (texts: string | readonly string[]) => unknown;

/** One coercion for each field that is not text. Computed once, when the routes are built. */
export type QueryCoercions = ReadonlyMap<string, Coercion>;

const NUMBER = /^-?\d{1,20}(\.\d{1,20})?$/;

export function coercionsOf(input: ObjectSchema): QueryCoercions {
  const fields = Object.entries<z.core.$ZodType>(input.shape).map(
    ([name, schema]) => [name, coercionOf(schema)] as const,
  );
  return new Map(fields.filter((field): field is readonly [string, Coercion] => field[1] !== undefined));
}

/** The input that a query string means. Unknown fields are kept: the schema refuses them by name. */
export function coerceQuery(
  coercions: QueryCoercions,
  query: Readonly<Record<string, string | string[]>>,
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const name in query) {
    const texts = query[name] ?? '';
    const coercion = coercions.get(name);
    input[name] = coercion ? coercion(texts) : texts;
  }
  return input;
}

function coercionOf(schema: z.core.$ZodType): Coercion | undefined {
  const { def } = inner(schema)._zod;
  switch (def.type) {
    case 'number':
      return one(toNumber);
    case 'boolean':
      return one(toBoolean);
    case 'array':
      return list(itemOf(def as z.core.$ZodArrayDef));
    default:
      return undefined;
  }
}

/** The schema within its wrappers: optional, default, nullable and the like. */
function inner(schema: z.core.$ZodType): z.core.$ZodType {
  const def = schema._zod.def as Partial<Record<'innerType' | 'in' | 'out', z.core.$ZodType>>;
  // What a function makes of the text first is read by what comes after it.
  const wrapped = def.innerType ?? (def.in?._zod.def.type === 'transform' ? def.out : def.in);
  return wrapped ? inner(wrapped) : schema;
}

function itemOf({ element }: z.core.$ZodArrayDef): (text: string) => unknown {
  return coercionOf(element) ?? ((text) => text);
}

function one(read: (text: string) => unknown): Coercion {
  return (texts) => (typeof texts === 'string' ? read(texts) : texts);
}

/** Repeated parameters and comma lists alike. An empty one is an empty list. */
function list(read: (text: string) => unknown): Coercion {
  return (texts) => {
    const items = (typeof texts === 'string' ? [texts] : texts).flatMap((text) => (text === '' ? [] : text.split(',')));
    return items.map(read);
  };
}

function toNumber(text: string): unknown {
  return NUMBER.test(text) ? Number(text) : text;
}

function toBoolean(text: string): unknown {
  if (text === 'true') return true;
  return text === 'false' ? false : text;
}
