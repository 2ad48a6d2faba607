import { Id, LIMITS, REFERENCE_FIELDS, REFERENCE_LISTS, type ReferenceKind } from '@workspace-graph/contracts';

type Json = Readonly<Record<string, unknown>>;
/** One kind, or `recipient`: the one that the object says. */
type Named = ReferenceKind | 'recipient';

const SCHEMAS = {
  node: {
    name: 'NodeReference',
    description:
      'A node: its UUID, its path, or its name if no other visible node has it. A path is the key of the organization, ' +
      'the plural of the type and the key of the node; the path of an organization is its key. A key alone is accepted if it is unique. In a URL the reference is percent-encoded: ' +
      '`/nodes/kubernetes%2Fareas%2Fsig-network`.',
    examples: ['0190a000-0000-7000-8000-000000000001', 'kubernetes/areas/sig-network', 'SIG Network'],
  },
  actor: {
    name: 'ActorReference',
    description: 'An actor: the UUID or a unique name; with manage also the e-mail or handle of its user.',
    examples: ['0190a000-0000-7000-8000-000000000002', 'Tim Hockin'],
  },
  user: {
    name: 'UserReference',
    description:
      'A user: the UUID, or a unique name, e-mail, handle or identity at the provider. Without manage, callers cannot name ' +
      'other users.',
    examples: ['0190a000-0000-7000-8000-000000000003', 'tim@example.org', 'thockin'],
  },
  group: {
    name: 'GroupReference',
    description: 'A group: the UUID, the name or the claim. Without manage, callers cannot name groups.',
    examples: ['0190a000-0000-7000-8000-000000000004', 'Release leads'],
  },
  recipient: {
    name: 'RecipientReference',
    description: 'The user or group, by `kind`: a UUID or another reference.',
    examples: ['0190a000-0000-7000-8000-000000000004', 'Release leads'],
  },
} as const satisfies Record<Named, { name: string; description: string; examples: readonly string[] }>;

/** The named schemas of what stands for an id. */
export const REFERENCE_SCHEMAS = Object.fromEntries(
  Object.values(SCHEMAS).map(({ name, ...words }) => [
    name,
    { type: 'string', minLength: 1, maxLength: LIMITS.pathLength, ...words },
  ]),
);

/** A parameter of a route, whose id may be named. */
export function namedParameter<P extends { readonly name?: string; readonly schema?: unknown }>(parameter: P): P {
  const schema = namedField(parameter.name ?? '', parameter.schema);
  return schema === parameter.schema ? parameter : { ...parameter, schema };
}

/** The schema of an input, whose ids may be named. */
export function namedInput<S>(schema: S): S {
  const { properties } = schema as { properties?: Record<string, unknown> };
  if (!properties) return schema;
  const fields = Object.entries(properties).map(([name, field]) => [name, namedField(name, field)] as const);
  return { ...schema, properties: Object.fromEntries(fields) };
}

function namedField(name: string, schema: unknown): unknown {
  const list = Object.hasOwn(REFERENCE_LISTS, name) ? REFERENCE_LISTS[name] : undefined;
  if (list) return withReference(schema, list.kind ?? 'recipient', list.field);
  const kind = Object.hasOwn(REFERENCE_FIELDS, name) ? REFERENCE_FIELDS[name] : undefined;
  return kind === undefined ? schema : withReference(schema, kind);
}

/** The schema with a reference in place of its ids; `within` is the field of each object of a list that has them. */
function withReference(schema: unknown, kind: Named, within?: string): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const { items, anyOf, properties, format, type: _text, description, ...rest } = schema as Json;
  if (format === 'uuid') {
    const $ref = `#/components/schemas/${SCHEMAS[kind].name}`;
    return { ...rest, $ref, ...(description === Id.description ? {} : { description }) };
  }
  return {
    ...(schema as Json),
    ...(items ? { items: withReference(items, kind, within) } : {}),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map((one) => withReference(one, kind, within)) } : {}),
    ...(properties && within ? { properties: withMember(properties as Json, within, kind) } : {}),
  };
}

function withMember(properties: Json, field: string, kind: Named): Json {
  return { ...properties, [field]: withReference(properties[field], kind) };
}
