import { z } from 'zod';
import { type ValidationIssue, validationFailed } from './errors.js';

type Issue = z.core.$ZodRawIssue;
type Sized = Extract<Issue, { code: 'too_big' | 'too_small' }>;

/**
 * Reads what somebody sent.
 * @throws ServiceError VALIDATION_FAILED that names each field and what it must be
 */
export function readInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const result = tryInput(schema, input);
  if (result.success) return result.data;
  throw validationFailed(result.error.issues.map(issueOf));
}

/** The same for those who go on with what is right in it: `issueOf` tells what is wrong. */
export function tryInput<S extends z.ZodType>(schema: S, input: unknown): z.ZodSafeParseResult<z.output<S>> {
  return schema.safeParse(input, { error: whatIsWrong });
}

/** Whether an input has fields that its schema does not know. */
export function hasUnknownFields(schema: z.ZodType, input: unknown): boolean {
  return schema.safeParse(input).error?.issues.some(({ code }) => code === 'unrecognized_keys') ?? false;
}

/** The words of a schema for a value that is there; one that is missing is told as such. */
export function says(words: string): (issue: Issue) => string | undefined {
  return ({ input }) => (input === undefined ? undefined : words);
}

export function issueOf({ path, message }: z.core.$ZodIssue): ValidationIssue {
  return { path: path.map(String).join('.'), message };
}

/** What is wrong with a field whose schema has no words of its own for it; undefined leaves it to the library. */
function whatIsWrong(issue: Issue): string | undefined {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return `must ${sizeOf(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most')}`;
    case 'too_small':
      return `must ${sizeOf(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least')}`;
    case 'unrecognized_keys':
      return `has no field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}${fieldsOf(issue)}`;
    case 'invalid_union':
      return 'must match one of the allowed forms';
    case 'invalid_format':
      return 'must match the required form';
    default:
      return undefined;
  }
}

/** The fields that there are instead of one that nobody knows. */
function fieldsOf({ inst }: Issue): string {
  const fields = inst instanceof z.ZodObject ? Object.keys(inst.shape) : [];
  return fields.length > 0 ? `; its fields are ${fields.join(', ')}` : '';
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
};

function sizeOf({ origin, exact }: Sized, size: number | bigint, bound: string): string {
  const most = exact ? 'exactly' : bound;
  const unit = UNITS[origin];
  return unit ? `have ${most} ${size} ${size === 1 ? unit[0] : unit[1]}` : `be ${most} ${size}`;
}
