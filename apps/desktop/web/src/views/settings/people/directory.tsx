import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import type { InputOf, Operation, OutputOf } from '@workspace-graph/contracts';
import { ChevronDown, ChevronRight, Plus, Search } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ChangedMeanwhile, change } from '../../../api/change';
import { queries } from '../../../api/client';
import { type Place, usePages } from '../../../api/pages';
import { Ghosts } from '../../../parts/ghosts';
import { More } from '../../../parts/more';
import { Problem } from '../../../parts/problem';

/** What is typed within this time is looked for together. */
const TOGETHER_MS = 120;
const PAGE = 10;

interface Asked extends Place {
  readonly query?: string;
  readonly limit: number;
}

interface DirectoryProps<T> {
  readonly kind: 'people' | 'groups' | 'actors';
  readonly load: (
    asked: Asked,
    signal: AbortSignal,
  ) => Promise<{ readonly items: readonly T[]; readonly next_cursor: string | null }>;
  /** One line of a row: who it is, and what tells it apart. */
  readonly row: (item: T) => ReactNode;
  /** What is shown and done below its row when it is open. */
  readonly detail: (item: T) => ReactNode;
  /** A form for another one; absent for whoever cannot make one. */
  readonly create?: (onClose: () => void) => ReactNode;
}

/** Asks again for what the lists of people, groups and actors show, but for what is told of one that is `gone`. */
export async function refreshDirectories(gone?: string): Promise<void> {
  await queries.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] === 'directory' && (gone === undefined || !queryKey.includes(gone)),
  });
}

/** Sends a change of a record, and shows it as it is then, also where it was refused. @throws Refusal, Unreachable */
export async function changeListed<Op extends Operation>(operation: Op, input: InputOf<Op>): Promise<OutputOf<Op>> {
  try {
    return await change(operation, input);
  } finally {
    await refreshDirectories();
  }
}

interface TakenBack<T> {
  /** What the change made of it. */
  readonly made: T;
  readonly fields: readonly (keyof T)[];
  readonly read: () => Promise<T | undefined>;
  readonly write: (expected_version: number) => Promise<unknown>;
}

/** Takes a change of a record back, unless somebody has changed the same since. @throws ChangedMeanwhile, Refusal, Unreachable */
export async function takeBack<T extends { readonly version: number }>(change: TakenBack<T>): Promise<void> {
  const { made, fields, read, write } = change;
  try {
    const now = await read();
    if (!now || fields.some((field) => now[field] !== made[field])) throw new ChangedMeanwhile();
    await write(now.version);
  } finally {
    await refreshDirectories();
  }
}

/** A list that is searched, leafed through, and worked on where its rows stand. */
export function Directory<T extends { readonly id: string }>({ kind, load, row, detail, create }: DirectoryProps<T>) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), TOGETHER_MS);
  const [open, setOpen] = useState<string | null>(null);
  const [isCreating, setCreating] = useState(false);
  const { items, isRead, error, next, refetch } = usePages({
    queryKey: ['directory', kind, query],
    load: (place, { signal }) => load({ limit: PAGE, ...(query === '' ? {} : { query }), ...place }, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="dir">
      <div className="row bar">
        <span className="input seek">
          <Search className="i s14" aria-hidden="true" />
          <input
            className="bare"
            type="search"
            aria-label={t(`people.${kind}.search`)}
            placeholder={t(`people.${kind}.search`)}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </span>
        {create && (
          <button
            type="button"
            className="btn sm push"
            aria-expanded={isCreating}
            onClick={() => setCreating(!isCreating)}
          >
            <Plus className="i" aria-hidden="true" />
            {t(`people.${kind}.add`)}
          </button>
        )}
      </div>
      {isCreating && create?.(() => setCreating(false))}
      {error && <Problem error={error} onRetry={refetch} />}
      {isRead && items.length === 0 && <Nothing kind={kind} isFiltered={query !== ''} onAll={() => setText('')} />}
      <ul aria-label={t(`settings.${kind}.title`)}>
        {items.map((item) => (
          <Row
            key={item.id}
            line={row(item)}
            detail={item.id === open ? detail(item) : undefined}
            onToggle={() => setOpen(item.id === open ? null : item.id)}
          />
        ))}
      </ul>
      {!isRead && !error && <Ghosts rows={PAGE} height={33} />}
      <More next={next} />
    </div>
  );
}

interface RowProps {
  readonly line: ReactNode;
  /** Absent: it is closed. */
  readonly detail: ReactNode | undefined;
  readonly onToggle: () => void;
}

function Row({ line, detail, onToggle }: RowProps) {
  const isOpen = detail !== undefined;
  const Icon = isOpen ? ChevronDown : ChevronRight;
  return (
    <li>
      <button type="button" className="dir-row" aria-expanded={isOpen} onClick={onToggle}>
        <Icon className="i s14" aria-hidden="true" />
        {line}
      </button>
      {isOpen && <div className="dir-body">{detail}</div>}
    </li>
  );
}

interface NothingProps {
  readonly kind: DirectoryProps<unknown>['kind'];
  readonly isFiltered: boolean;
  readonly onAll: () => void;
}

/** What belongs here; or that the search hides it. */
function Nothing({ kind, isFiltered, onAll }: NothingProps) {
  const { t } = useTranslation();
  return (
    <div className="empty">
      <p>{t(isFiltered ? 'people.nothing' : `people.${kind}.none`)}</p>
      {isFiltered && (
        <button type="button" className="btn sm" onClick={onAll}>
          {t('people.show_all')}
        </button>
      )}
    </div>
  );
}
