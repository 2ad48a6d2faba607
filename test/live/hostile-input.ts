import type { Tool } from '@modelcontextprotocol/client';
import fc from 'fast-check';

/** What one client sends as one message. */
export interface HostileMessage {
  readonly data: string | Uint8Array;
  readonly binary: boolean;
  /** How many frames it is cut into. */
  readonly parts: number;
}

export interface HostileCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

const FRAME_TYPES = [
  ...['subscribe', 'unsubscribe', 'watch', 'message', 'answer', 'interrupt', 'suspend', 'close', 'resume'],
  ...['event', 'session_state', '', '__proto__', 'constructor', 'toString', 'SUBSCRIBE', 'subscribe\0'],
];
const FIELDS = [
  ...['session_id', 'after', 'limit', 'text', 'request_id', 'decision', 'mode', 'graph', 'files', 'node_id'],
  ...['__proto__', 'constructor', 'prototype', 'x'],
];
const HUGE = 300_000;

/** Any value of JSON, among them such as are hard on readers. */
const jsonValue = (ids: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...ids) },
    { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    fc.constantFrom(-1, 0.5, 1e308, -0, 2 ** 53, 2 ** 31, -(2 ** 63), 1e21),
    fc.constantFrom('', ' ', '\0', '\ud800', '\u202e', 'é'.normalize('NFD'), '%00', '../..', "' OR 1=1 --", '{{7*7}}'),
    fc.integer({ min: 1_000, max: 20_000 }).map((length) => 'x'.repeat(length)),
    fc.integer({ min: 10, max: 400 }).map((depth) => nested(depth)),
    fc.array(fc.constantFrom(...ids), { maxLength: 70 }),
    fc.constantFrom(null, true, {}, [], { __proto__: null }),
  );

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Messages on the live channel: rubbish, JSON that is no frame, and frames that name what they should not. */
export function hostileMessages(ids: readonly string[]): fc.Arbitrary<HostileMessage> {
  const value = jsonValue(ids);
  const payload = fc.oneof(
    { weight: 4, arbitrary: fc.dictionary(fc.constantFrom(...FIELDS), value, { maxKeys: 5 }) },
    { weight: 2, arbitrary: fc.constantFrom(...ids).map((session_id) => ({ session_id, after: 0 })) },
    value,
  );
  const id = fc.oneof(fc.nat(), fc.string({ maxLength: 5 }), value);
  const frame = fc.record(
    { id, type: fc.oneof(fc.constantFrom(...FRAME_TYPES), value), payload },
    { requiredKeys: [] },
  );
  const data = fc.oneof(
    { weight: 10, arbitrary: frame.map((one) => JSON.stringify(one)) },
    { weight: 3, arbitrary: value.map((one) => JSON.stringify(one) ?? 'undefined') },
    { weight: 3, arbitrary: frame.map((one) => JSON.stringify(one).slice(0, -2)) },
    { weight: 3, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    fc.constantFrom(
      '['.repeat(5_000),
      '{"a":'.repeat(5_000),
      '{"type":"subscribe","type":"watch"}',
      'null',
      '\ufeff{}',
    ),
    fc.constantFrom('x'.repeat(HUGE), JSON.stringify({ type: 'message', payload: { text: 'y'.repeat(200_000) } })),
    fc.constant('{"id":1,"type":"subscribe","payload":{"__proto__":{"session_id":"x"}}}'),
  );
  return fc.record({ data, binary: fc.boolean(), parts: fc.constantFrom(1, 1, 1, 2, 3) });
}

/** Calls of tools: for each field what fits, what nearly fits, and what does not fit at all. */
export function hostileCalls(tools: readonly Tool[], ids: readonly string[]): fc.Arbitrary<HostileCall> {
  const value = jsonValue(ids);
  return fc.constantFrom(...tools).chain(({ name, inputSchema }) => {
    const properties = Object.entries((inputSchema.properties ?? {}) as Record<string, JsonSchema>);
    const fields = Object.fromEntries(
      properties.map(([field, schema]) => [field, fc.oneof({ weight: 3, arbitrary: fitting(schema, ids) }, value)]),
    );
    const stray = fc.option(fc.tuple(fc.constantFrom(...FIELDS), value), { freq: 6 });
    return fc
      .tuple(fc.record(fields, { requiredKeys: inputSchema.required ?? [] }), stray)
      .map(([input, more]) => ({ name, arguments: { ...input, ...(more ? { [more[0]]: more[1] } : {}) } }));
  });
}

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: JsonSchema;
}

function fitting(schema: JsonSchema, ids: readonly string[]): fc.Arbitrary<unknown> {
  if (schema.enum && schema.enum.length > 0) return fc.constantFrom(...schema.enum);
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'integer' || schema.type === 'number') return fc.integer({ min: -2, max: 600 });
  if (schema.type === 'array') return fc.array(fitting(schema.items ?? {}, ids), { maxLength: 4 });
  return fc.oneof(fc.constantFrom(...ids), fc.string({ maxLength: 12 }));
}
