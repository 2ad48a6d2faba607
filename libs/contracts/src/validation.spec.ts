import { z } from 'zod';
import { Id, Name, Timestamp } from './common.js';
import { ServiceError, type ValidationIssue } from './errors.js';
import { OPERATIONS } from './operations.js';
import { hasUnknownFields, readInput } from './validation.js';

function issuesOf(schema: z.ZodType, input: unknown): ValidationIssue[] {
  try {
    readInput(schema, input);
  } catch (error) {
    if (error instanceof ServiceError) return error.details?.['issues'] as ValidationIssue[];
    throw error;
  }
  throw new Error('the input was taken');
}
const messageOf = (schema: z.ZodType, value: unknown) => issuesOf(z.object({ field: schema }), { field: value });

describe('what is wrong with an input', () => {
  it.each([
    ['id', Id],
    ['name', Name],
    ['time', Timestamp],
    ['number', z.int()],
    ['choice', z.enum(['a', 'b'])],
    ['list', z.array(Id)],
    ['union', z.union([z.string(), z.number()])],
  ])('is that a required %s is missing', (_what, schema) => {
    expect(issuesOf(z.strictObject({ field: schema }), {})).toEqual([{ path: 'field', message: 'is required' }]);
  });

  it.each([
    [z.string(), 7, 'must be a string'],
    [z.string(), null, 'must be a string'],
    [z.number(), 'x', 'must be a number'],
    [z.number(), Number.NaN, 'must be a number'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.boolean(), 'yes', 'must be true or false'],
    [z.array(z.string()), {}, 'must be a list'],
    [z.strictObject({}), [], 'must be an object'],
    [z.record(z.string(), z.string()), 'x', 'must be an object'],
    [z.enum(['read', 'write']), 'all', 'must be one of read, write'],
    [z.literal(true), false, 'must be true'],
    [z.string().max(3), 'long', 'must have at most 3 characters'],
    [z.array(z.int()).min(1), [], 'must have at least 1 item'],
    [z.int().min(2), 1, 'must be at least 2'],
    [z.number().lt(2), 2, 'must be less than 2'],
    [z.strictObject({}), { more: 1, 'a b': 2 }, 'has no field "more", "a b"'],
    [
      z.strictObject({ a: z.int().optional(), b: z.int().optional() }),
      { c: 1 },
      'has no field "c"; its fields are a, b',
    ],
    [z.union([z.string(), z.number()]), true, 'must match one of the allowed forms'],
    [z.string().regex(/^a$/), 'b', 'must match the required form'],
  ])('is told in words, case %#', (schema, value, message) => {
    expect(messageOf(schema, value)).toEqual([{ path: 'field', message }]);
  });

  it('is told in the words of the field where it has some', () => {
    expect(messageOf(Id, 'x')).toEqual([{ path: 'field', message: 'must be a UUID' }]);
    expect(messageOf(Name, ' ')).toEqual([{ path: 'field', message: 'must not be empty' }]);
    expect(messageOf(Timestamp, 'x')[0]?.message).toContain('must be an ISO 8601 time');
  });

  it('is never told in the raw words of the library, whatever an operation is sent', () => {
    for (const { name, input } of OPERATIONS.values()) {
      const fields = Object.keys(input.shape);
      const inputs = [{}, null, ...[[[]], {}, 'x', 7.5, true, null].map((value) => fromFields(fields, value))];
      for (const sent of inputs) {
        if (input.safeParse(sent).success) continue;
        for (const { message } of issuesOf(input, sent))
          expect([name, message]).toEqual([
            name,
            expect.not.stringMatching(/Invalid|Unrecognized|Too (big|small)|expected/),
          ]);
      }
    }
  });

  it('may be a field that nobody knows', () => {
    const schema = z.strictObject({ field: Id });
    expect([{}, { field: 1 }, null, { more: 1 }].map((input) => hasUnknownFields(schema, input))).toEqual([
      ...[false, false, false],
      true,
    ]);
  });
});

function fromFields(fields: readonly string[], value: unknown): unknown {
  return Object.fromEntries(fields.map((field) => [field, value]));
}
