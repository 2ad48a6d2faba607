import {
  type Caller,
  Id,
  LIMITS,
  type listNodes,
  type ParsedInputOf,
  RawJson,
  Timestamp,
} from '@workspace-graph/contracts';
import {
  type Cursor,
  cursorOf,
  type Database,
  FIRST_ID,
  LAST_ID,
  namePattern,
  pageJson,
  SEEN_SETS,
  type Statement,
  seen,
} from '@workspace-graph/database';
import { z } from 'zod';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { joinedSummaryFields, nodeSummaryJoins } from '../shared/projections.js';
import { listedSession } from '../shared/session-list.js';

type Input = ParsedInputOf<typeof listNodes>;
type SortKey = [string, string];

interface Order {
  readonly cursor: Cursor<SortKey>;
  readonly start: SortKey;
  /** SQL of the first sort key, and of its form in a cursor. */
  readonly column: string;
  readonly written: string;
  readonly type: 'text' | 'timestamptz';
  readonly newestFirst: boolean;
}

const byTime = (list: string, column: string): Order => ({
  cursor: cursorOf<SortKey>(list, z.tuple([Timestamp, Id])),
  start: ['infinity', LAST_ID],
  column,
  written: `graph.iso(${column})`,
  type: 'timestamptz',
  newestFirst: true,
});

const ORDERS: Readonly<Record<Input['order'], Order>> = {
  name: {
    cursor: cursorOf<SortKey>('list_nodes:name', z.tuple([z.string(), Id])),
    start: ['', FIRST_ID],
    column: 'n.name_folded',
    written: 'n.name_folded',
    type: 'text',
    newestFirst: false,
  },
  created: byTime('list_nodes:created', 'n.created_at'),
  updated: byTime('list_nodes:updated', 'n.updated_at'),
};

/** What each filter asks of the node `n`; `$` stands for the parameter. */
const FILTERS = {
  session: 'n.id IN (SELECT c FROM session.scope_nodes($::uuid) c)',
  organization: 'n.organization_id = $::uuid',
  parent: `n.id IN (SELECT e.source_id FROM graph.edge e WHERE e.target_id = $::uuid AND e.relation = 'belongs_to')`,
  owner: 'n.owner_id = $::uuid',
  // Of one type, an index of an organization has the nodes in order.
  type: 'n.type = $::text',
  types: 'n.type = ANY ($::text[])',
  status: 'n.status = ANY ($::text[])',
  lifecycle: 'n.lifecycle = ANY ($::text[])',
  health: 'n.health = ANY ($::text[])',
  query: `n.name_folded LIKE ${namePattern('$::text')}`,
} as const;
type Filters = Readonly<Partial<Record<keyof typeof FILTERS, string | readonly string[]>>>;

/**
 * Answers one page of the nodes that the caller may see.
 * @throws ServiceError NODE_NOT_FOUND when the organization or the parent is absent or hidden
 */
export async function list(database: Pick<Database, 'row'>, input: Input, caller: Caller): Promise<RawJson> {
  const { cursor, start } = ORDERS[input.order];
  const filters = filtersOf(input, caller);
  const named = [filters.organization, filters.parent].filter((id) => typeof id === 'string');
  const statement = listStatement(input.order, Object.keys(filters), input.limit);
  const row = await database.row<{ json: string; seen: string[] }>(statement, [
    ...seenBy(caller),
    input.limit,
    ...cursor.read(input.cursor, start),
    named,
    ...Object.values(filters),
  ]);
  if (!row) throw new Error('A list returns one row');
  const unseen = named.find((id) => !row.seen.includes(id));
  if (unseen !== undefined) throw nodeNotFound(unseen);
  return new RawJson(row.json);
}

function filtersOf(input: Input, caller: Caller): Filters {
  const all: Record<keyof typeof FILTERS, string | readonly string[] | undefined> = {
    session: listedSession(input.scope, caller) ?? undefined,
    organization: input.organization_id,
    parent: input.parent_id,
    owner: input.owner_id,
    type: input.type?.length === 1 ? input.type[0] : undefined,
    types: input.type?.length === 1 ? undefined : input.type,
    // Asking for a lifecycle is asking for the status that follows from it.
    status: input.status ?? (input.lifecycle ? undefined : ['active', 'completed']),
    lifecycle: input.lifecycle,
    health: input.health,
    query: input.query?.trim() || undefined,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** What an item is made of; long texts stay out of the sort. */
const SUMMARY_COLUMNS = [
  'id',
  'type',
  'name',
  'name_folded',
  'status',
  'lifecycle',
  'health',
  'organization_id',
  'owner_id',
  'version',
  'created_at',
  'updated_at',
];

/**
 * One statement for each combination of filters, so that each is planned for what it asks. A statement with a name is
 * planned once per connection, where its plan takes a quarter of a megabyte: so those have one that are asked all the
 * time, and the many others leave nothing on the server.
 */
function listStatement(orderName: Input['order'], filters: readonly string[], limit: number): Statement {
  const special = filters.filter((filter) => filter !== 'status').length;
  const most = limit <= LIMITS.listDefault ? LIMITS.listDefault : LIMITS.listMax;
  const isUsual = special < 2 || (special === 2 && orderName === 'name' && most === LIMITS.listDefault);
  const name = isUsual ? `node.list.${most}.${[orderName, ...filters].join('.')}` : '';
  return { name, text: listText(ORDERS[orderName], filters, most) };
}

/**
 * $1 user, $2 sees all, $3 page size, $4 and $5 sort key, $6 ids that must be visible, $7… the filters. The inner limit
 * is a constant: without it a plan for any page size expects a tenth of all nodes on a page.
 */
function listText(order: Order, filters: readonly string[], most: number): string {
  const direction = order.newestFirst ? 'DESC' : 'ASC';
  const sort = `${order.column} ${direction}, n.id ${direction}`;
  const conditions = filters.map((filter, index) =>
    FILTERS[filter as keyof typeof FILTERS].replaceAll('$', `$${index + 7}`),
  );
  const rows = `
    SELECT json_build_object(${joinedSummaryFields('n')}) AS item,
      CASE WHEN n.place = $3::int THEN ${order.cursor.sql(order.written, 'n.id')} END AS cursor, n.place
    FROM (
      SELECT n.*, row_number() OVER (ORDER BY ${sort}) AS place
      FROM (
        SELECT ${SUMMARY_COLUMNS.map((column) => `n.${column}`).join(', ')}
        FROM graph.node n
        WHERE ${seen('n')} AND (${order.column}, n.id) ${order.newestFirst ? '<' : '>'} ($4::${order.type}, $5::uuid)
          ${conditions.map((condition) => `AND ${condition}`).join('\n          ')}
        ORDER BY ${sort} LIMIT ${most + 1}
      ) n ORDER BY ${sort} LIMIT $3::int + 1
    ) n ${nodeSummaryJoins('n')}`;
  const visible = `ARRAY(SELECT v.id::text FROM graph.node v WHERE v.id = ANY ($6::uuid[]) AND ${seen('v')})`;
  return `WITH ${SEEN_SETS} SELECT (${pageJson('$3::int', rows)}) AS json, ${visible} AS seen`;
}
