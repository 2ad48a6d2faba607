import { useQuery } from '@tanstack/react-query';
import { type AuditEntry, listActors, listGroups, listUsers, type Node } from '@workspace-graph/contracts';
import { client } from '../../api/client';
import { placeAt } from '../../api/pages';
import { useGraph } from '../../graph/graph-query';

export type Entry = ReturnType<(typeof AuditEntry)['parse']>;
/** What a change did to which fields. */
export type FieldsOfChange = Pick<Entry, 'before' | 'after'>;
export type Fields = Readonly<Record<string, unknown>>;

type List = typeof listActors | typeof listUsers | typeof listGroups;
type Names = ReadonlyMap<string, string>;

const NONE: Names = new Map();
const PAGE = 500;

/** Answers the name of what an id stands for; undefined where it is not there any more, null while that is not known. */
export type NameOf = (id: unknown) => string | null | undefined;

/** Names of the people, groups and nodes that changes speak of by their ids. Those that `node` tells are not asked for. */
export function useNames(changes: readonly FieldsOfChange[], node?: Node): NameOf {
  const { data: graph, isLoading } = useGraph();
  const holders = new Map(holdersOf(node).map(({ id, name }) => [id, name]));
  const actors = useNamesOf(
    listActors,
    idsIn(changes, ownersOf).filter((id) => !holders.has(id)),
  );
  const users = useNamesOf(listUsers, idsIn(changes, recipientsOf('user')));
  const groups = useNamesOf(listGroups, idsIn(changes, recipientsOf('group')));
  const isKnown = !isLoading && actors && users && groups;
  return (id) => {
    if (typeof id !== 'string') return undefined;
    const name = holders.get(id) ?? actors?.get(id) ?? users?.get(id) ?? groups?.get(id) ?? graph?.nodes.get(id)?.name;
    return name ?? (isKnown ? undefined : null);
  };
}

/** One line of a sharing list, as the history keeps it. */
export function isRecipient(
  value: unknown,
): value is { readonly kind: string; readonly id: string; readonly access: string } {
  return typeof value === 'object' && value !== null && 'kind' in value && 'id' in value && 'access' in value;
}

/** Undefined while they are asked for. */
function useNamesOf(list: List, ids: readonly string[]): Names | undefined {
  const { data, isLoading } = useQuery({
    enabled: ids.length > 0,
    queryKey: ['names', list.name, ids],
    queryFn: ({ signal }) => find(list, new Set(ids), signal),
  });
  return isLoading ? undefined : (data ?? NONE);
}

/** By their list: asking for each would be refused for those that are gone. */
async function find(list: List, ids: ReadonlySet<string>, signal: AbortSignal): Promise<Names> {
  const names = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const given = { limit: PAGE, ...placeAt(cursor) };
    const page: { readonly items: readonly { id: string; name: string }[]; readonly next_cursor: string | null } =
      await client.call(list as typeof listGroups, given, { signal });
    for (const { id, name } of page.items) if (ids.has(id)) names.set(id, name);
    cursor = page.next_cursor;
  } while (cursor !== null && names.size < ids.size);
  return names;
}

function idsIn(changes: readonly FieldsOfChange[], of: (fields: Fields) => readonly unknown[]): readonly string[] {
  const found = changes.flatMap(({ before, after }) => [before, after].flatMap((fields) => (fields ? of(fields) : [])));
  return [...new Set(found.filter((id) => typeof id === 'string'))].sort();
}

function holdersOf(node: Node | undefined): readonly { readonly id: string; readonly name: string }[] {
  if (!node) return [];
  return [...(node.owner ? [node.owner] : []), ...node.responsibilities.flatMap(({ assignees }) => assignees)];
}

const ownersOf = ({ owner_id, assignee_id, assignee_ids }: Fields): readonly unknown[] => [
  owner_id,
  assignee_id,
  ...(Array.isArray(assignee_ids) ? (assignee_ids as readonly unknown[]) : []),
];

const recipientsOf =
  (kind: string) =>
  ({ recipients }: Fields): readonly unknown[] =>
    (Array.isArray(recipients) ? recipients : []).flatMap((one: unknown) =>
      isRecipient(one) && one.kind === kind ? [one.id] : [],
    );
