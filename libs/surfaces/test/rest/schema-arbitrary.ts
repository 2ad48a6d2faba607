import * as fc from 'fast-check';

/** The part of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly pattern?: string;
}

export interface Generators {
  /** Finds the schema that a `$ref` names. */
  readonly resolve: (ref: string) => Schema;
  /** UUIDs for the field of this name. */
  readonly ids: (name: string) => fc.Arbitrary<string>;
  /** Cursors of lists; without it they are texts like any other. */
  readonly cursors?: () => fc.Arbitrary<string>;
}

const MAX_ITEMS = 4;
const MAX_LENGTH = 40;
const FIRST_TIME = new Date('2020-01-01T00:00:00.000Z');
const LAST_TIME = new Date('2030-01-01T00:00:00.000Z');

/** The schemas of what can be named instead of being given by its id. */
const REFERENCE = /\/[A-Z][a-z]+Reference$/;

/** Makes values that fit a schema; `name` is that of the field they are for. */
export function fitting(schema: Schema, generators: Generators, name = ''): fc.Arbitrary<unknown> {
  if (schema.$ref && REFERENCE.test(schema.$ref)) return references(schema.$ref, generators, name);
  if (schema.$ref) return fitting(generators.resolve(schema.$ref), generators, name);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return fc.oneof(...variants.map((variant) => fitting(variant, generators, name)));
  const type = Array.isArray(schema.type) ? (schema.type[0] as string) : schema.type;
  switch (type) {
    case 'object':
      return objects(schema, generators);
    case 'array':
      return arrays(schema, generators, name);
    case 'string':
      return strings(schema, generators, name);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 1_000_000, 2 ** 31) });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 1_000, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

/** Mostly ids, of what exists where some are known; else names, which are those of nothing. */
function references($ref: string, generators: Generators, name: string): fc.Arbitrary<unknown> {
  const names = strings(generators.resolve($ref), generators, name);
  return fc.oneof({ weight: 9, arbitrary: generators.ids(name) }, { weight: 1, arbitrary: names });
}

/** Values of any kind, mostly of a wrong one. */
export const ANYTHING: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    1.5,
    1e308,
    '',
    ' ',
    'null',
    [],
    {},
    [null],
    '\u0000',
    '\ud800',
    '../../etc/passwd',
    "'; --",
    '٣',
    '😀',
  ),
  fc.string({ maxLength: 300, unit: 'binary' }),
  fc.integer(),
  fc.jsonValue({ maxDepth: 2 }),
);

function objects(
  { properties = {}, required = [], additionalProperties, propertyNames }: Schema,
  generators: Generators,
): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, fitting(schema, generators, name)]),
  );
  const record = fieldsOf(
    fields,
    required.filter((name) => name in fields),
  );
  if (typeof additionalProperties !== 'object' || Object.keys(fields).length > 0) return record;
  const names = propertyNames ? fitting(propertyNames, generators) : fc.constant(undefined);
  const name = fc.tuple(names, fc.stringMatching(/^[a-z]{1,10}$/)).map(([told, other]) => String(told ?? other));
  return fc.dictionary(name, fitting(additionalProperties, generators), { maxKeys: MAX_ITEMS });
}

/** An object of these fields; every third has only what it must, as most callers send it. */
export function fieldsOf(
  fields: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  requiredKeys: readonly string[],
): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const least = Object.fromEntries(Object.entries(fields).filter(([name]) => requiredKeys.includes(name)));
  return fc.oneof(
    { weight: 1, arbitrary: fc.record(least) },
    { weight: 2, arbitrary: fc.record(fields, { requiredKeys: [...requiredKeys] }) },
  );
}

function arrays(
  { items, prefixItems, minItems = 0, maxItems = MAX_ITEMS }: Schema,
  generators: Generators,
  name: string,
): fc.Arbitrary<unknown> {
  if (prefixItems) return fc.tuple(...prefixItems.map((item) => fitting(item, generators, name)));
  const maxLength = Math.max(minItems, Math.min(maxItems, MAX_ITEMS));
  return fc.array(fitting(items ?? {}, generators, name), { minLength: minItems, maxLength });
}

function strings(
  { format, pattern, minLength = 0, maxLength = MAX_LENGTH }: Schema,
  { ids, cursors }: Generators,
  name: string,
): fc.Arbitrary<unknown> {
  if (format === 'uuid') return ids(name);
  if (name === 'cursor' && cursors) return cursors();
  if (name === 'url') return fc.webUrl({ size: 'small' });
  if (format === 'date-time')
    return fc.date({ min: FIRST_TIME, max: LAST_TIME, noInvalidDate: true }).map((date) => date.toISOString());
  const longest = Math.max(minLength, Math.min(maxLength, MAX_LENGTH));
  // Patterns that name classes of characters only refuse rare ones: letters pass them.
  if (pattern && !pattern.includes('\\p{')) return fc.stringMatching(new RegExp(pattern, 'u'));
  return fc.string({
    minLength: minLength,
    maxLength: longest,
    unit: fc.constantFrom('a', 'Ž', 'ß', 'ř', '7', '-', '«', '漢'),
  });
}
