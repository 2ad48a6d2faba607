import { Id, Timestamp } from '@workspace-graph/contracts';
import { z } from 'zod';
import { inToolNames } from './tool-words.js';

type JsonSchema = Record<string, unknown>;

/** What every tool means by these, whatever the other surfaces say of them. */
const SHARED_WORDS: Readonly<Record<string, string>> = {
  expected_version: 'The version you read.',
  limit: 'Maximum number of items.',
  cursor: 'next_cursor of the previous page.',
};
/** What only a validator needs. The service holds every input against the whole schema and says what is wrong. */
const NOISE = [
  '$schema',
  'pattern',
  'additionalProperties',
  'propertyNames',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
] as const;
/** Said by the name of the field, or by its format. */
const SELF_EVIDENT = new Set([Id, Timestamp].map(({ description }) => description));

/** JSON Schema (draft 2020-12) of a tool's arguments: names, types, values, and what an agent must know besides. */
export function inputSchemaOf(schema: z.ZodObject): JsonSchema & { readonly type: 'object' } {
  const { required, properties } = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
  const fields = Object.entries(properties as Record<string, JsonSchema>);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldOf(name, field)])),
    ...(Array.isArray(required) && required.length > 0 ? { required } : {}),
  };
}

function fieldOf(name: string, field: JsonSchema): JsonSchema {
  const words = SHARED_WORDS[name];
  return lean(words ? { ...field, description: words } : field);
}

function lean(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(withoutNull(schema)).filter(([key, value]) => isTold(key, value));
  return Object.fromEntries(entries.map(([key, value]) => [key, leanPart(key, value)]));
}

function isTold(key: string, value: unknown): boolean {
  if (key === 'format') return value !== 'uuid';
  if (key === 'description') return !SELF_EVIDENT.has(value as string);
  if (key === 'default') return !isEmpty(value);
  return !NOISE.some((word) => word === key);
}

/** What is left out by a caller who says nothing. */
function isEmpty(value: unknown): boolean {
  return value === null || value === '' || value === false || (Array.isArray(value) && value.length === 0);
}

function leanPart(key: string, value: unknown): unknown {
  if (key === 'properties') {
    const fields = Object.entries(value as Record<string, JsonSchema>);
    return Object.fromEntries(fields.map(([name, field]) => [name, fieldOf(name, field)]));
  }
  if (key === 'description') return inToolNames(value as string);
  if (key === 'items') return lean(value as JsonSchema);
  if (key === 'anyOf') return (value as JsonSchema[]).map(lean);
  return value;
}

/** Null is no value of its own where it is what a caller means by saying nothing. Not every client reads lists of types. */
function withoutNull({ type, anyOf, ...schema }: JsonSchema): JsonSchema {
  const all = Array.isArray(type) ? type.map((one: unknown) => ({ type: one })) : (anyOf as JsonSchema[] | undefined);
  if (!all) return type === undefined ? schema : { type, ...schema };
  const told = schema['default'] === null ? all.filter((one) => one['type'] !== 'null') : all;
  const [only, ...others] = told;
  return only && others.length === 0 ? { ...only, ...schema } : { anyOf: told, ...schema };
}
