import { Modal } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type OutputOf, search } from '@workspace-graph/contracts';
import { FileText, Flag, Link2, type LucideIcon, Search, UserRound, Users, Wrench } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '../../api/client';
import { folded } from '../../graph/graph';
import { Refused } from '../../parts/problem';
import { TypeGlyph } from '../../parts/type-glyph';
import type { Action } from './actions';

type Hit = OutputOf<typeof search>['items'][number];

/** What is typed within this time is asked for together. */
const TOGETHER_MS = 120;
const MOST = 12;
const ICONS: Readonly<Record<Exclude<Hit['kind'], 'node'>, LucideIcon>> = {
  actor: UserRound,
  responsibility: Users,
  data_source: Link2,
  tool: Wrench,
  file: FileText,
  event: Flag,
};

interface PaletteProps {
  readonly actions: readonly Action[];
  readonly onClose: () => void;
}

/** One line of the palette, and what taking it does. */
interface Entry {
  readonly id: string;
  readonly lead: ReactNode;
  readonly text: ReactNode;
  readonly note: string | undefined;
  readonly run: () => void;
}

/** Finds nodes, files and everything else by words, and does what the page can do. */
export default function Palette({ actions, onClose }: PaletteProps) {
  const { t } = useTranslation();
  const id = useId();
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const { entries, error } = useEntries(text, actions);
  const at = Math.min(active, entries.length - 1);
  const take = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) setActive((at + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === 'Enter') take(entries[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      size="37.5rem"
      yOffset="12vh"
      centered={false}
      padding={0}
      title={<span className="vh">{t('palette.title')}</span>}
      classNames={{ header: 'vh', content: 'palette' }}
    >
      <div className="q">
        <Search className="i" aria-hidden="true" />
        <input
          className="bare"
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
          aria-label={t('palette.title')}
          placeholder={t('palette.hint')}
          value={text}
          data-autofocus
          onChange={(event) => {
            setText(event.currentTarget.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="rs options" role="listbox" id={`${id}-list`} aria-label={t('palette.found')}>
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys of all lines
          <div
            key={entry.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className={index === at ? 'mi at' : 'mi'}
            onClick={() => take(entry)}
            onMouseMove={() => setActive(index)}
          >
            {entry.lead}
            <span className="cut">{entry.text}</span>
            <span className="k cut">{entry.note}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && !error && <p className="padded t3">{t('picker.nothing')}</p>}
      {error !== null && (
        <div className="padded">
          <Refused error={error} />
        </div>
      )}
    </Modal>
  );
}

/** The actions that fit what is typed, and what the workspace finds. */
function useEntries(
  text: string,
  actions: readonly Action[],
): { readonly entries: readonly Entry[]; readonly error: unknown } {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const query = text.trim();
  const [asked] = useDebouncedValue(query, TOGETHER_MS);
  const { data, error } = useQuery({
    enabled: asked !== '',
    queryKey: ['search', asked],
    queryFn: ({ signal }) => client.call(search, { query: asked, limit: MOST }, { signal }),
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  });
  const wanted = folded(query);
  // What begins with the words is meant; what only contains them comes after what was found.
  const fitting = actions
    .filter(({ text: name }) => folded(name).includes(wanted))
    .sort((a, b) => Number(folded(b.text).startsWith(wanted)) - Number(folded(a.text).startsWith(wanted)));
  const hits = query === '' ? [] : (data?.items ?? []);
  const ofHits = hits.map(
    (hit): Entry => ({
      id: `${hit.kind} ${hit.item_id ?? hit.node?.id}`,
      ...linesOf(hit),
      note: hit.kind === 'node' && hit.node ? t(`type.${hit.node.type}`) : (hit.node?.name ?? t(`palette.${hit.kind}`)),
      run: () => {
        if (!hit.node) return;
        const file = hit.kind === 'file' ? unmarked(hit.snippet) : undefined;
        void navigate({ to: '/graph', search: { node: hit.node.id, file } });
      },
    }),
  );
  const ofActions = fitting.map(
    ({ id, icon: Icon, text: name, keys, run }): Entry => ({
      id,
      lead: <Icon className="i" aria-hidden="true" />,
      text: name,
      note: keys,
      run,
    }),
  );
  const meant = fitting.filter(({ text: name }) => folded(name).startsWith(wanted)).length;
  return {
    entries: [...ofActions.slice(0, meant), ...ofHits, ...ofActions.slice(meant)],
    error: query === '' ? null : error,
  };
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
