import { z } from 'zod';
import {
  isOffered,
  OPERATIONS,
  type Operation,
  REFERENCE_FIELDS,
  REFERENCE_LISTS,
  referenceFieldsOf,
} from './index.js';

/** Fields with ids of what has no name. */
const NAMELESS = [
  'data_source_id',
  'responsibility_id',
  'responsibility_ids',
  'tool_id',
  'edge_id',
  'event_id',
  'access_request_id',
  'token_id',
  'device_id',
  'file_id',
  'file_ids',
  'session_id',
];
type JsonSchema = Readonly<Record<string, unknown>>;

/** Where an input takes ids, however deep: `add.*` for the items of a list, `positions.*.node_id` for their fields. */
function idsIn(schema: JsonSchema, at: string): string[] {
  if (schema['format'] === 'uuid') return [at];
  const {
    items,
    properties = {},
    anyOf = [],
  } = schema as {
    items?: JsonSchema;
    properties?: Record<string, JsonSchema>;
    anyOf?: JsonSchema[];
  };
  const fields = Object.entries(properties).flatMap(([name, field]) =>
    idsIn(field, at === '' ? name : `${at}.${name}`),
  );
  return [...fields, ...anyOf.flatMap((one) => idsIn(one, at)), ...(items ? idsIn(items, `${at}.*`) : [])];
}

const idsOf = ({ input }: Operation): string[] => idsIn(z.toJSONSchema(input, { io: 'input' }), '');
const nameOf = (path: string): string => path.replace(/\.\*$/, '');
const offered = [...OPERATIONS.values()].filter(isOffered);

it.each(offered.map((operation) => [operation.name, operation] as const))(
  'every id in the input of %s can be named as well, or is that of what has no name [graph.node.named-by-reference]',
  (_name, operation) => {
    const ids = idsOf(operation).map(nameOf);
    const named = referenceFieldsOf(operation).map(({ field, within }) => (within ? `${field}.*.${within}` : field));
    expect(ids.filter((path) => !NAMELESS.includes(path)).sort()).toEqual(named.sort());
  },
);

it('no field is listed that no operation has', () => {
  const fields = new Set(offered.flatMap(idsOf).map((path) => path.split('.')[0]));
  const listed = [...NAMELESS, ...Object.keys(REFERENCE_FIELDS), ...Object.keys(REFERENCE_LISTS)];
  expect(listed.sort()).toEqual([...fields].sort());
});
