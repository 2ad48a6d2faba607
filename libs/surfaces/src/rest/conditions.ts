import { hash } from 'node:crypto';
import {
  type JsonFacts,
  type ObjectSchema,
  type Operation,
  RawJson,
  validationFailed,
} from '@workspace-graph/contracts';
import { z } from 'zod';

/** A version, and in the answer of a reading the hash of that answer, which nobody need know for a change. */
const VERSION_TAG = /^(?:W\/)?"([1-9]\d{0,14})(?:\.[\w-]+)?"$/;
const ANY_TAG = /^(?:W\/)?"([^"]*)"$/;
const HASH_LENGTH = 16;
const TAG_CHARACTERS = /^[\x21\x23-\x7e]*$/;
const MAX_TAG_LENGTH = 200;

/** Where in an answer one of its facts is. Of text they are told beside it. */
export type FactPath = readonly [...record: string[], fact: keyof JsonFacts];

/** How a route takes part in conditional requests; computed once. */
export interface Conditions {
  /** If-Match becomes `expected_version`. */
  readonly takesVersion: boolean;
  /** If-None-Match becomes `if_none_match`, and an unchanged answer is 304. */
  readonly takesTag: boolean;
  /** Where in the answer the ETag is. */
  readonly tagPath: FactPath | undefined;
}

export function conditionsOf({ input, output }: Operation): Conditions {
  return {
    takesVersion: 'expected_version' in input.shape,
    takesTag: 'if_none_match' in input.shape,
    tagPath: 'if_none_match' in input.shape ? ['token'] : versionPath(output),
  };
}

/** The version that If-Match asks for; undefined for `*`, which any record satisfies. @throws ServiceError VALIDATION_FAILED */
export function versionAsked(header: string): number | undefined {
  if (header.trim() === '*') return undefined;
  const version = VERSION_TAG.exec(header.trim())?.[1];
  if (version === undefined)
    throw validationFailed([{ path: 'If-Match', message: 'must be the ETag of the record, such as "7"' }]);
  return Number(version);
}

/** The tag that If-None-Match names, when it is one alone. */
export function tagAsked(header: string): string | undefined {
  const tag = ANY_TAG.exec(header.trim())?.[1];
  return tag !== undefined && tag.length <= MAX_TAG_LENGTH ? tag : undefined;
}

/** The tag of an If-None-Match header that is this one, strong or weak; for `*` any is. */
export function tagMatched(header: string | undefined, tag: string): string | undefined {
  if (header?.trim() === '*') return tag;
  const opaque = (item: string): string => item.replace(/^W\//, '');
  return header
    ?.split(',')
    .map((item) => item.trim())
    .find((item) => opaque(item) === opaque(tag));
}

/** The same tag for a representation that is not byte for byte the same, such as a compressed one. */
export function weakTag(tag: string): string {
  return tag.startsWith('W/') ? tag : `W/${tag}`;
}

/**
 * The ETag of what is read. The version of a record does not grow with everything that is told beside it, so a hash of the
 * answer is added.
 */
export function tagOfReading(version: string, json: string | Uint8Array): string {
  return `${version.slice(0, -1)}.${hash('sha256', json, 'base64url').slice(0, HASH_LENGTH)}"`;
}

/** The ETag of an answer. */
export function tagOf(reply: unknown, path: FactPath): string | undefined {
  const value = factOf(reply, path);
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && TAG_CHARACTERS.test(text) ? `"${text}"` : undefined;
}

/** A fact of an answer, wherever it came from. */
export function factOf(reply: unknown, path: FactPath): unknown {
  if (reply instanceof RawJson) return reply.facts[path.at(-1) as keyof JsonFacts];
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    reply,
  );
}

/** A record carries its version itself; the answer of a change carries the record. */
function versionPath(output: z.ZodType): FactPath | undefined {
  const shape = shapeOf(output);
  if (!shape) return undefined;
  if ('version' in shape) return ['version'];
  const record = Object.entries<z.core.$ZodType>(shape).find(([, schema]) => 'version' in (shapeOf(schema) ?? {}));
  return 'applied' in shape && record ? [record[0], 'version'] : undefined;
}

function shapeOf(schema: z.core.$ZodType): ObjectSchema['shape'] | undefined {
  const bare = schema instanceof z.ZodNullable ? schema.unwrap() : schema;
  return bare instanceof z.ZodObject ? bare.shape : undefined;
}
