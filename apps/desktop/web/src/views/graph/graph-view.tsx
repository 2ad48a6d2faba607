import { useLocalStorage } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { List, Plus, SlidersHorizontal, Waypoints } from 'lucide-react';
import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DEFAULT_FILTERS, type Filters, found, type Shown, shownOf } from '../../graph/filters';
import type { Graph } from '../../graph/graph';
import { useGraph } from '../../graph/graph-query';
import { NodeDetail } from '../../node/node-detail';
import { useMe } from '../../node/node-query';
import { Ghosts } from '../../parts/ghosts';
import { Picker } from '../../parts/picker';
import { Problem } from '../../parts/problem';
import { TypeGlyph } from '../../parts/type-glyph';
import { useDoors } from '../../shell/doors';
import { Head } from '../../shell/head';
import { useViewKeys } from '../../shell/keys';
import { useSelection } from '../../shell/selection';
import { FilterPanel } from './filter-panel';
import { NodeTable } from './node-table';

const Canvas = lazy(() => import('./canvas'));
const SEARCH_ID = 'graph-search';
const MOST_FOUND = 12;
const GHOST_PLACES = [
  [-62, -38],
  [14, -60],
  [70, -22],
  [52, 44],
  [-18, 58],
  [-78, 26],
];

/** Where everything belongs and who is around it: the filters, the drawing or its list, and the selected node. */
export default function GraphView() {
  const { t } = useTranslation();
  const { node: selectedId } = useSelection();
  const navigate = useNavigate();
  const me = useMe();
  const open = useDoors();
  const { data: graph, error, refetch } = useGraph();
  const [filters, setFilters] = useLocalStorage<Filters>({
    key: 'svc:graph.filters',
    defaultValue: DEFAULT_FILTERS,
    getInitialValueInEffect: false,
  });
  const { isList, isUnable, toggle, giveUp } = useMode();
  const [hasFilters, setHasFilters] = useState(false);
  const shown = useShown(graph, filters);
  const select = useCallback(
    (id: string | null) => void navigate({ to: '/graph', search: { node: id ?? undefined } }),
    [navigate],
  );
  useViewKeys({
    l: toggle,
    '/': () => document.getElementById(SEARCH_ID)?.focus(),
    Escape: () => select(null),
  });
  const frame = `cols gcols${selectedId === undefined ? ' alone' : ''}${hasFilters ? ' with-filters' : ''}`;
  return (
    <main className="view" id="content">
      <Head title={t('view.graph')} state={graph && shown && <Extent graph={graph} shown={shown} />}>
        <button
          type="button"
          className="btn only-s"
          aria-expanded={hasFilters}
          onClick={() => setHasFilters(!hasFilters)}
        >
          <SlidersHorizontal className="i" aria-hidden="true" />
          {t('graph.filters')}
        </button>
        <ModeButton isList={isList} isUnable={isUnable} onToggle={toggle} />
        {me.scope === 'manage' && (
          <button type="button" className="btn" onClick={() => open('new-node')}>
            <Plus className="i" aria-hidden="true" />
            {t('create.title')}
          </button>
        )}
      </Head>
      <div className={frame}>
        <aside className="col list" aria-label={t('graph.filters')}>
          <NodeSearch graph={graph} onSelect={select} />
          {graph && <FilterPanel graph={graph} filters={filters} onChange={setFilters} />}
          {!graph && !error && <Ghosts rows={20} height={28} />}
        </aside>
        <div className="col centre">
          {!graph && !error && <Awaited isList={isList} />}
          {error && !graph && <Problem error={error} onRetry={() => void refetch()} />}
          {graph && shown && (
            <Nodes
              {...{ graph, shown, selectedId, isList }}
              onSelect={select}
              onUnable={giveUp}
              onUnfilter={() => setFilters(DEFAULT_FILTERS)}
            />
          )}
        </div>
        {selectedId !== undefined && (
          <aside className="col pane" aria-label={t('node.pane')}>
            <NodeDetail nodeId={selectedId} onClose={() => select(null)} />
          </aside>
        )}
      </div>
    </main>
  );
}

/** Whose nodes there are and how many, and how many of them are shown where that is not all. */
function Extent({ graph: { nodes }, shown }: { readonly graph: Graph; readonly shown: Shown }) {
  const { t } = useTranslation();
  const [organization, ...others] = useMemo(
    () => [...nodes.values()].filter(({ type }) => type === 'organization').slice(0, 2),
    [nodes],
  );
  const name = others.length === 0 ? organization?.name : undefined;
  const [count, part] = [nodes.size, shown.nodes.length];
  const text = part === count ? t('graph.nodes', { count }) : t('graph.shown', { shown: part, count });
  return (
    <span title={name === undefined ? text : `${name} · ${text}`}>
      {name !== undefined && (
        <>
          <bdi>{name}</bdi> ·{' '}
        </>
      )}
      {text}
    </span>
  );
}

/** Whether the nodes are drawn or listed, as this browser last chose; listed where it cannot draw. */
function useMode() {
  const [mode, setMode] = useLocalStorage<'drawing' | 'list'>({
    key: 'svc:graph.mode',
    defaultValue: 'drawing',
    getInitialValueInEffect: false,
  });
  const [isUnable, setUnable] = useState(false);
  const giveUp = useCallback(() => setUnable(true), []);
  const isList = mode === 'list' || isUnable;
  return { isList, isUnable, giveUp, toggle: () => setMode(isList ? 'drawing' : 'list') };
}

function useShown(graph: Graph | undefined, filters: Filters): Shown | undefined {
  const { nodes, edges } = graph ?? {};
  return useMemo(() => nodes && edges && shownOf({ nodes, edges }, filters), [nodes, edges, filters]);
}

interface NodesProps {
  readonly graph: Graph;
  readonly shown: Shown;
  readonly selectedId: string | undefined;
  readonly isList: boolean;
  readonly onSelect: (id: string | null) => void;
  readonly onUnable: () => void;
  readonly onUnfilter: () => void;
}

function Nodes({ graph, shown, selectedId, isList, onSelect, onUnable, onUnfilter }: NodesProps) {
  const me = useMe();
  const given = { graph, shown, selectedId, onSelect };
  if (isList || shown.nodes.length === 0) return <NodeTable {...given} onUnfilter={onUnfilter} />;
  return (
    <Suspense fallback={<Awaited isList={false} />}>
      <Canvas {...given} mayPlace={me.scope !== 'read'} onUnable={onUnable} />
    </Suspense>
  );
}

/** What stands in the place of the nodes. */
function Awaited({ isList }: { readonly isList: boolean }) {
  const { t } = useTranslation();
  return (
    <div className={isList ? 'scroll paper' : 'gwrap'}>
      {isList ? (
        <Ghosts rows={20} height={32} label={t('graph.loading')} />
      ) : (
        <GhostDrawing label={t('graph.loading')} />
      )}
    </div>
  );
}

/** A few nodes around another one, where the drawing will be. */
function GhostDrawing({ label }: { readonly label: string }) {
  return (
    <div className="ghosts" role="status" aria-label={label}>
      <svg className="gghost" viewBox="-100 -80 200 160" aria-hidden="true">
        {GHOST_PLACES.map(([x, y]) => (
          <g key={`${x} ${y}`}>
            <path d={`M0 0L${x} ${y}`} />
            <circle cx={x} cy={y} r="6" />
          </g>
        ))}
        <circle r="10" />
      </svg>
    </div>
  );
}

interface ModeButtonProps {
  readonly isList: boolean;
  readonly isUnable: boolean;
  readonly onToggle: () => void;
}

function ModeButton({ isList, isUnable, onToggle }: ModeButtonProps) {
  const { t } = useTranslation();
  const Icon = isList ? Waypoints : List;
  return (
    <button
      type="button"
      className="btn"
      onClick={onToggle}
      aria-disabled={isUnable || undefined}
      title={isUnable ? t('graph.unable') : 'L'}
    >
      <Icon className="i" aria-hidden="true" />
      {isList ? t('graph.as_drawing') : t('graph.as_list')}
    </button>
  );
}

interface NodeSearchProps {
  readonly graph: Graph | undefined;
  readonly onSelect: (id: string) => void;
}

/** Nodes by name, whatever the filters hide. */
function NodeSearch({ graph, onSelect }: NodeSearchProps) {
  const { t } = useTranslation();
  const load = (text: string) =>
    Promise.resolve(
      found(graph?.nodes.values() ?? [], text, MOST_FOUND).map(({ id, name, type }) => ({
        id,
        text: name,
        note: t(`type.${type}`),
        lead: <TypeGlyph type={type} />,
      })),
    );
  return (
    <div className="padded">
      <Picker
        isStanding
        shortcut="/"
        id={SEARCH_ID}
        label={t('graph.search')}
        basis={graph?.token ?? ''}
        load={load}
        onPick={({ id }) => onSelect(id)}
      />
    </div>
  );
}
