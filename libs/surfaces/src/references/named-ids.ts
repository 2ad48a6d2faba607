import {
  Id,
  RECIPIENT_KINDS,
  REFERENCE_FIELDS,
  REFERENCE_LISTS,
  type ReferenceKind,
  ReferenceText,
} from '@workspace-graph/contracts';

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

/** The id of a node that a text names, by itself or otherwise. @throws whatever `ask` throws */
export async function nodeIdOf(text: string, field: string, ask: AskForIds): Promise<string> {
  const id = Id.safeParse(text);
  if (id.success) return id.data;
  const [found = text] = await ask([{ kind: 'node', text, field }]);
  return found;
}

type Replace = (reference: NamedReference) => string;

function replaced(input: Input, replace: Replace): Input {
  return Object.fromEntries(
    Object.entries(input).map(([field, value]) => [field, replacedValue(field, value, replace)]),
  );
}

function replacedValue(field: string, value: unknown, replace: Replace): unknown {
  const kind = Object.hasOwn(REFERENCE_FIELDS, field) ? REFERENCE_FIELDS[field] : undefined;
  if (Object.hasOwn(REFERENCE_LISTS, field) && Array.isArray(value))
    return value.map((item, index) => replacedItem(item, [field, index], replace));
  if (kind === undefined) return value;
  const one = (text: unknown, at: string): unknown => (isName(text) ? replace({ kind, text, field: at }) : text);
  return Array.isArray(value) ? value.map((item, index) => one(item, `${field}.${index}`)) : one(value, field);
}

function replacedItem(item: unknown, [list, index]: readonly [string, number], replace: Replace): unknown {
  const { field, kind = kindOf(item) } = REFERENCE_LISTS[list] ?? { field: '' };
  const text = memberOf(item, field);
  if (kind === undefined || !isName(text)) return item;
  return { ...(item as Input), [field]: replace({ kind, text, field: `${list}.${index}.${field}` }) };
}

/** What an item says itself that it names. */
function kindOf(item: unknown): ReferenceKind | undefined {
  return RECIPIENT_KINDS.find((kind) => kind === memberOf(item, 'kind'));
}

function memberOf(item: unknown, name: string): unknown {
  return typeof item === 'object' && item !== null ? (item as Input)[name] : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && !Id.safeParse(value).success && ReferenceText.safeParse(value).success;
}
