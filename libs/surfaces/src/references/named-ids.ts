import { Id, RECIPIENTS_FIELD, REFERENCE_FIELDS, type ReferenceKind, ReferenceText } from '@workspace-graph/contracts';

type Input = Readonly<Record<string, unknown>>;

/** What a call names instead of giving an id. */
export interface NamedReference {
  readonly kind: ReferenceKind;
  readonly text: string;
  /** Where it stands in the call, such as `assignee_ids.1`. */
  readonly field: string;
}

/** Asks for the ids of references, in their order. */
export type AskForIds = (references: readonly NamedReference[]) => Promise<readonly string[]>;

/**
 * The input of a call with ids where it names nodes, actors, users and groups otherwise. Asks once, and not at all when
 * every one is given by its id. What cannot be a name stays as it is: the schema of the operation says what is wrong.
 * @throws whatever `ask` throws
 */
export async function withIds<I extends Input>(input: I, ask: AskForIds): Promise<I> {
  const references: NamedReference[] = [];
  replaced(input, (reference) => {
    references.push(reference);
    return reference.text;
  });
  if (references.length === 0) return input;
  const ids = await ask(references);
  const idOf = new Map(references.map(({ field }, index) => [field, ids[index]]));
  return replaced(input, ({ field, text }) => idOf.get(field) ?? text) as I;
}

type Replace = (reference: NamedReference) => string;

function replaced(input: Input, replace: Replace): Input {
  return Object.fromEntries(
    Object.entries(input).map(([field, value]) => [field, replacedValue(field, value, replace)]),
  );
}

function replacedValue(field: string, value: unknown, replace: Replace): unknown {
  const kind = Object.hasOwn(REFERENCE_FIELDS, field) ? REFERENCE_FIELDS[field] : undefined;
  if (field === RECIPIENTS_FIELD && Array.isArray(value))
    return value.map((item, index) => replacedRecipient(item, `${field}.${index}`, replace));
  if (kind === undefined) return value;
  const one = (text: unknown, at: string): unknown => (isName(text) ? replace({ kind, text, field: at }) : text);
  return Array.isArray(value) ? value.map((item, index) => one(item, `${field}.${index}`)) : one(value, field);
}

/** A recipient says itself what its id is that of. */
function replacedRecipient(recipient: unknown, at: string, replace: Replace): unknown {
  if (typeof recipient !== 'object' || recipient === null) return recipient;
  const { kind, id } = recipient as Input;
  if ((kind !== 'user' && kind !== 'group') || !isName(id)) return recipient;
  return { ...recipient, id: replace({ kind, text: id, field: `${at}.id` }) };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && !Id.safeParse(value).success && ReferenceText.safeParse(value).success;
}
