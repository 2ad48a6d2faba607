import { z } from 'zod';
import { LIMITS } from './limits.js';
import { says } from './validation.js';

/** UUIDv7 text. */
export const Id = z
  .uuid({ error: says('must be a UUID') })
  .toLowerCase()
  .describe('UUID');
export type Id = string;

const TIME = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);
const NO_TIME = says('must be an ISO 8601 time such as 2026-05-04T10:00:00.000Z, or a date such as 2026-05-04');

/**
 * UTC, ISO 8601 with milliseconds and Z; input with any offset is accepted and normalised, and a date alone means its
 * first moment in UTC.
 */
export const Timestamp = z
  .string({ error: NO_TIME })
  .refine((value) => TIME.safeParse(value).success, { error: NO_TIME, abort: true })
  .overwrite(inUtc)
  .refine((value) => /^(?!0000)\d{4}-/.test(value), 'must be between the years 0001 and 9999')
  .meta({ format: 'date-time' })
  .describe('Time, ISO 8601, UTC, milliseconds; in requests a date without a time means 00:00 UTC');
export type Timestamp = string;

const NO_CONTROL = /^[^\p{Cc}]*$/u;

/** A one-line name: trimmed, NFC, without control characters. */
export const Name = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(LIMITS.nameLength, `must have at most ${LIMITS.nameLength} characters`)
  .regex(NO_CONTROL, 'must not contain control characters')
  .refine(isWellFormed, 'must be valid Unicode text')
  .normalize('NFC');

/** Free text of several lines. */
export const Text = z
  .string()
  .max(LIMITS.textLength, `must have at most ${LIMITS.textLength} characters`)
  .refine((value) => !value.includes('\u0000'), 'must not contain NUL characters')
  .refine(isWellFormed, 'must be valid Unicode text');

/** Free text that says something. */
export const SaidText = Text.min(1, 'must not be empty').refine((value) => value.trim() !== '', 'must not be blank');

/** Text of a limited length that is kept or looked for as it is. */
export const plainText = (most: number) =>
  z
    .string()
    .max(most, `must have at most ${most} characters`)
    .refine((value) => !value.includes('\u0000'), 'must not contain NUL characters')
    .refine(isWellFormed, 'must be valid Unicode text');

/** What a search or a filter looks for. */
export const Query = plainText(200);

/** Address of a person, for naming them; nothing is sent to it. */
export const Email = plainText(320)
  .trim()
  .regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address')
  .refine((value) => NO_CONTROL.test(value), 'must not contain control characters');

/** A list in a request; a single value that stands for itself is a list of one. */
export function listOf<T extends z.ZodType<unknown, string>>(item: T) {
  const list = z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item));
  return list as unknown as z.ZodType<z.output<T>[], z.input<T> | readonly z.input<T>[]>;
}

/** Version of a record. */
export const Version = z.int().min(1).max(LIMITS.versionMax);

/** A place on the drawing, of one axis. */
export const Coordinate = z.number().min(-LIMITS.coordinateMax).max(LIMITS.coordinateMax);

/** The version of a record that a change is based on; a stale one is refused with CONFLICT. */
export const ExpectedVersion = z
  .int()
  .min(1)
  .optional()
  .describe(
    'Version that the change is based on; on REST also the If-Match header. A stale version fails with CONFLICT.',
  );

/** Confirm-first: without it the call answers a preview and changes nothing that needs confirmation. */
export const Confirmed = z.boolean().default(false).describe('Send true to apply the previewed change.');

/** Paging of every list. */
export const paging = {
  limit: z
    .int()
    .min(1)
    .max(LIMITS.listMax)
    .default(LIMITS.listDefault)
    .describe('Maximum number of items in one page.'),
  cursor: z.string().max(LIMITS.cursorLength).optional().describe('next_cursor of the previous page.'),
};

/** Most tokens of an answer, by its own estimate. */
export const MaxTokens = z.int().min(LIMITS.tokensMin).max(LIMITS.tokensMax).default(LIMITS.tokensDefault);

/** One page of a list. */
export function page<T extends z.ZodType>(item: T) {
  return z.strictObject({
    items: z.array(item),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
  });
}

/** The answer of operations that have nothing to tell. */
export const Done = z.strictObject({ done: z.literal(true) });

/** What is no time stays as it is. */
function inUtc(value: string): string {
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? value : time.toISOString();
}

function isWellFormed(value: string): boolean {
  return value.isWellFormed();
}
