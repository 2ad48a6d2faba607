import { Id, OPERATIONS, RECIPIENTS_FIELD, REFERENCE_FIELDS } from './index.js';

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
  'file_id',
];
const ID = '01890000-0000-7000-8000-000000000001';

/** Whether a field takes an id, or a list of ids, and no other text. */
function takesIds(schema: { safeParse(value: unknown): { success: boolean } }): boolean {
  return (
    [ID, [ID]].some((value) => schema.safeParse(value).success) &&
    !schema.safeParse('no id').success &&
    !schema.safeParse(['no id']).success
  );
}

it('every field of ids is one that takes names as well, or one of what has none [graph.node.named-by-reference]', () => {
  const fields = new Set<string>();
  for (const { input, tier } of OPERATIONS.values()) {
    if (tier === 'internal') continue;
    for (const [field, schema] of Object.entries(input.shape)) if (takesIds(schema)) fields.add(field);
  }
  const named = [...fields].filter((field) => !NAMELESS.includes(field));
  expect(named.sort()).toEqual(Object.keys(REFERENCE_FIELDS).sort());
  expect([...fields].filter((field) => NAMELESS.includes(field)).sort()).toEqual([...NAMELESS].sort());
  expect(Id.safeParse(ID).success && OPERATIONS.get('set_access')?.input.shape).toHaveProperty(RECIPIENTS_FIELD);
});
