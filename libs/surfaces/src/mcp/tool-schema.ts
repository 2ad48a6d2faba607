import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** JSON Schema (draft 2020-12) of a tool's arguments. */
export function inputSchemaOf(schema: z.ZodObject): JsonSchema {
  return portable(z.toJSONSchema(schema, { io: 'input' }));
}

/** JSON Schema (draft 2020-12) of a tool's structured result. Further fields may be added later. */
export function outputSchemaOf(schema: z.ZodType): JsonSchema {
  return portable(
    z.toJSONSchema(schema, {
      io: 'output',
      reused: 'ref',
      override: ({ jsonSchema }) => {
        delete jsonSchema.additionalProperties;
      },
    }),
  );
}

function portable({ $schema: _dialect, ...schema }: JsonSchema): JsonSchema {
  simplify(schema);
  return schema;
}

/**
 * Leaves out what costs an agent's context and tells it nothing, and what not every client understands: Unicode
 * patterns, and several types in one place.
 */
function simplify(schema: JsonSchema): void {
  delete schema['pattern'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (Array.isArray(schema['type'])) {
    schema['anyOf'] = schema['type'].map((type: unknown) => ({ type }));
    delete schema['type'];
  }
  for (const part of partsOf(schema)) simplify(part);
}

/** The schemas within a schema. Below `properties` and `$defs` the keys are names. */
function partsOf(schema: JsonSchema): readonly JsonSchema[] {
  const { properties, $defs, items, additionalProperties, propertyNames, anyOf, allOf, oneOf, prefixItems } = schema;
  const named = [properties, $defs].flatMap((group) => (isSchema(group) ? Object.values(group) : []));
  const single = [items, additionalProperties, propertyNames];
  const lists = [anyOf, allOf, oneOf, prefixItems].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  return [...named, ...single, ...lists].filter(isSchema);
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
