import { GraphDocument, issueOf, tryInput, type ValidationIssue } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { z } from 'zod';
import { LISTS, type ListName, type SentRecord } from './document-reader.js';
import { type IdSpace, type Kind, RECORD_RULES, type RecordNotes } from './record-rules.js';

interface Reference {
  readonly kind: Kind;
  readonly key: string;
  readonly path: string;
}

interface StatedId {
  readonly space: IdSpace;
  readonly id: string;
  readonly path: string;
}

/** A record as the database gets it, with what is to be looked at when all are there. Paths are within the record. */
export interface ReadRecord {
  readonly list: ListName;
  readonly place: number;
  /** Null where nothing of it can be read. Fields as in the document, those of `RECORD_RULES`, and `new_id`. */
  readonly row: Readonly<Record<string, unknown>> | null;
  readonly issues: readonly ValidationIssue[];
  readonly references: readonly Reference[];
  readonly statedIds: readonly StatedId[];
}

type RecordSchema = z.ZodObject<z.ZodRawShape>;

/** Reads one record. What cannot be read of it is told, and the rest looked at without. */
export function readRecord({ list, place, value }: SentRecord): ReadRecord {
  const found = new Found();
  const fields = readFields(SCHEMAS[list], value, found);
  if (fields === null) return { list, place, row: null, ...found };
  const derived = rulesOf(list)(fields, found);
  return { list, place, row: { ...fields, ...derived, new_id: newId() }, ...found };
}

class Found implements RecordNotes {
  readonly issues: ValidationIssue[] = [];
  readonly references: Reference[] = [];
  readonly statedIds: StatedId[] = [];

  issue(path: string, message: string): void {
    this.issues.push({ path, message });
  }

  refer(kind: Kind, key: string | null | undefined, path: string): void {
    if (key != null) this.references.push({ kind, key, path });
  }

  state(space: IdSpace, id: string | undefined, path: string): void {
    if (id !== undefined) this.statedIds.push({ space, id, path });
  }
}

function readFields(schema: RecordSchema, value: unknown, found: Found): Record<string, unknown> | null {
  const result = tryInput(schema, value);
  if (result.success) return result.data;
  found.issues.push(...result.error.issues.map(issueOf));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return readableFields(schema, value as Record<string, unknown>);
}

/** The fields that can be read alone; the names of the others are in `unreadable`. */
function readableFields({ shape }: RecordSchema, value: Record<string, unknown>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const unreadable: string[] = [];
  for (const [name, schema] of Object.entries(shape)) {
    const result = z.safeParse(schema, value[name]);
    if (!result.success) unreadable.push(name);
    else if (result.data !== undefined) fields[name] = result.data;
  }
  return { ...fields, unreadable };
}

/** The rules of a list take what its schema has read. */
function rulesOf(list: ListName): (record: object, notes: RecordNotes) => Readonly<Record<string, unknown>> {
  return RECORD_RULES[list];
}

const SCHEMAS = Object.fromEntries(LISTS.map((list) => [list, recordSchemaOf(list)])) as Record<ListName, RecordSchema>;

function recordSchemaOf(list: ListName): RecordSchema {
  const schema: z.ZodType = GraphDocument.shape[list];
  const records = schema instanceof z.ZodDefault ? schema.unwrap() : schema;
  if (!(records instanceof z.ZodArray && records.element instanceof z.ZodObject))
    throw new Error(`${list} is not a list of records`);
  return records.element;
}
