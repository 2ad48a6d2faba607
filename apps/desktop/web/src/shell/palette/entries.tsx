import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { listSessions, type OutputOf, type Session, search } from '@workspace-graph/contracts';
import { FileText, Flag, Link2, type LucideIcon, Search, SquareTerminal, UserRound, Users, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '../../api/client';
import { folded } from '../../graph/graph';
import { useSessionName } from '../../parts/session-name';
import { TypeGlyph } from '../../parts/type-glyph';
import type { Action } from './actions';

type Hit = OutputOf<typeof search>['items'][number];

/** What is typed within this time is asked for together. */
const TOGETHER_MS = 120;
const MOST = 12;
const MOST_SESSIONS = 4;
const ICONS: Readonly<Record<Exclude<Hit['kind'], 'node'>, LucideIcon>> = {
  actor: UserRound,
  responsibility: Users,
  data_source: Link2,
  tool: Wrench,
  file: FileText,
  event: Flag,
};
const GROUPS = {
  node: 'nodes',
  actor: 'duties',
  responsibility: 'duties',
  data_source: 'links',
  tool: 'links',
  file: 'files',
  event: 'events',
} as const satisfies Record<Hit['kind'], string>;
type Group = (typeof GROUPS)[Hit['kind']] | 'sessions' | 'commands';

/** One line of the palette, and what taking it does. */
export interface Entry {
  readonly id: string;
  readonly group: Group;
  readonly lead: ReactNode;
  readonly text: ReactNode;
  readonly note: string | undefined;
  readonly run: () => void;
}

/** Of each group together, in the order in which the groups come: what fits best is first. */
export interface Found {
  readonly groups: readonly (readonly [Group, readonly Entry[]])[];
  readonly error: unknown;
  /** Whether it is for what is typed now, and not for what was typed before. */
  readonly isAnswered: boolean;
}

/** The actions that fit what is typed, and what the workspace finds. */
export function useFound(text: string, actions: readonly Action[]): Found {
  const query = text.trim();
  const [asked] = useDebouncedValue(query, TOGETHER_MS);
  const { entries: hits, error, isRead } = useHits(asked);
  const sessions = useSessions(asked);
  const wanted = folded(query);
  // What begins with the words is meant; what only contains them comes after what was found.
  const begins = ({ text: name }: Action): boolean => folded(name).startsWith(wanted);
  const fitting = actions.filter(({ text: name }) => folded(name).includes(wanted));
  const meant = fitting.filter(begins);
  const commands = [...meant, ...fitting.filter((action) => !begins(action))].map(entryOf);
  const found = query === '' ? [] : [...hits, ...sessions];
  return {
    groups: groupsOf(meant.length > 0 ? [...commands, ...found] : [...found, ...commands]),
    error: query === '' ? null : error,
    isAnswered: query === '' || (query === asked && isRead),
  };
}

function groupsOf(entries: readonly Entry[]): Found['groups'] {
  const groups = new Map<Group, Entry[]>();
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  return [...groups];
}

function entryOf({ id, icon: Icon, text, keys, run }: Action): Entry {
  return { id, group: 'commands', lead: <Icon className="i" aria-hidden="true" />, text, note: keys, run };
}

function useHits(
  asked: string,
): Pick<Found, 'error'> & { readonly entries: readonly Entry[]; readonly isRead: boolean } {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { data, error, isFetched, isPlaceholderData } = useQuery({
    enabled: asked !== '',
    queryKey: ['search', asked],
    queryFn: ({ signal }) => client.call(search, { query: asked, limit: MOST }, { signal }),
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  });
  const entries = (data?.items ?? []).map(
    (hit): Entry => ({
      id: `${hit.kind} ${hit.item_id ?? hit.node?.id}`,
      group: GROUPS[hit.kind],
      ...linesOf(hit),
      note: hit.kind === 'node' && hit.node ? t(`type.${hit.node.type}`) : (hit.node?.name ?? t(`palette.${hit.kind}`)),
      run: () => {
        if (!hit.node) return;
        const file = hit.kind === 'file' ? unmarked(hit.snippet) : undefined;
        void navigate({ to: '/graph', search: { node: hit.node.id, file } });
      },
    }),
  );
  return { entries, error, isRead: isFetched && !isPlaceholderData };
}

/** Own open sessions whose name, node or agent has the words. */
function useSessions(asked: string): readonly Entry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const sessionName = useSessionName();
  const { data } = useQuery({
    enabled: asked !== '',
    queryKey: ['sessions', 'palette'],
    queryFn: ({ signal }) => client.call(listSessions, { own: true, limit: 50 }, { signal }),
    staleTime: 5_000,
  });
  const words = folded(asked).split(/\s+/);
  const fits = ({ name, node, client: agent }: Session): boolean => {
    const text = folded(`${name} ${node?.name ?? ''} ${agent?.title ?? agent?.name ?? ''}`);
    return words.every((word) => text.includes(word));
  };
  return (data?.items ?? [])
    .filter(fits)
    .slice(0, MOST_SESSIONS)
    .map(({ id, name, node, state }) => ({
      id: `session ${id}`,
      group: 'sessions',
      lead: <SquareTerminal className="i" aria-hidden="true" />,
      text: sessionName(name),
      note: t(`sessions.state.${state}`),
      run: () => void navigate({ to: '/workspace', search: { ...(node && { node: node.id }), session: id } }),
    }));
}

function linesOf({ kind, node, matched, snippet }: Hit): Pick<Entry, 'lead' | 'text'> {
  if (kind === 'node' && node)
    return {
      lead: <TypeGlyph type={node.type} />,
      text: (
        <>
          {matched === 'name' ? <Marked text={snippet} /> : node.name}
          {matched === 'text' && (
            <small>
              <Marked text={snippet} />
            </small>
          )}
        </>
      ),
    };
  const Icon = kind === 'node' ? Search : ICONS[kind];
  return { lead: <Icon className="i" aria-hidden="true" />, text: <Marked text={snippet} /> };
}

function unmarked(text: string): string {
  return text.replaceAll(/«([^»]*)»/g, '$1');
}

/** A snippet with its matches, which the workspace marks with « and ». */
function Marked({ text }: { readonly text: string }) {
  return text
    .split(/(«[^»]*»)/)
    .map((part, at) => (part.startsWith('«') ? <mark key={at}>{part.slice(1, -1)}</mark> : part));
}
