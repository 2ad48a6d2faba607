import { z } from 'zod';
import { listOf, Timestamp } from './common.js';
import { NodeType } from './graph/vocabulary.js';
import { readInput } from './validation.js';

describe('a time', () => {
  it('is taken with any offset and precision, and told in UTC with milliseconds', () => {
    const spellings = ['2026-05-04T12:00:00.0009+02:00', '2026-05-04T10:00:00Z', '2026-05-04T10:00:00.000Z'];
    for (const text of spellings) expect(Timestamp.parse(text)).toBe('2026-05-04T10:00:00.000Z');
    expect(Timestamp.parse('9999-12-31T23:59:59.9999Z')).toBe('9999-12-31T23:59:59.999Z');
    expect(Timestamp.parse('0001-01-01T00:00:00Z')).toBe('0001-01-01T00:00:00.000Z');
  });

  it('may be a date, which is its first moment in UTC', () => {
    expect(Timestamp.parse('2026-11-22')).toBe('2026-11-22T00:00:00.000Z');
  });

  it('lies in a year of four digits, in UTC', () => {
    for (const text of ['0000-06-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-10:00'])
      expect(Timestamp.safeParse(text).error?.issues).toMatchObject([
        { message: 'must be between the years 0001 and 9999' },
      ]);
  });

  it('is refused when it is none', () => {
    for (const text of ['yesterday', '2026-02-30T00:00:00Z', '2026-5-4', '2026-02-30', '+010000-01-01T00:00:00Z', ''])
      expect(Timestamp.safeParse(text).success).toBe(false);
  });
});

describe('a list in a request', () => {
  const input = z.strictObject({ type: listOf(NodeType).optional() });

  it('may be a single value', () => {
    expect(readInput(input, { type: 'project' })).toEqual({ type: ['project'] });
    expect(readInput(input, { type: ['project', 'area'] })).toEqual({ type: ['project', 'area'] });
    expect(readInput(input, {})).toEqual({});
  });

  it('names what is wrong with it', () => {
    for (const [type, path, message] of [
      ['projects', 'type.0', /^must be one of organization, /],
      [7, 'type', /^must be a list$/],
    ] as const) {
      const refusal = { details: { issues: [{ path, message: expect.stringMatching(message) }] } };
      expect(() => readInput(input, { type })).toThrow(expect.objectContaining(refusal));
    }
  });

  it('is told as a list by its schema', () => {
    expect(z.toJSONSchema(input, { io: 'input' })).toMatchObject({ properties: { type: { type: 'array' } } });
    expect(z.toJSONSchema(input, { io: 'output' })).toMatchObject({ properties: { type: { type: 'array' } } });
  });
});
