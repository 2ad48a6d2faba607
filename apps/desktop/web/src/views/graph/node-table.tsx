import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { SearchX } from 'lucide-react';
import { type KeyboardEvent, useId, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shown } from '../../graph/filters';
import { degreesOf, type Graph, type GraphNode, parentsOf } from '../../graph/graph';
import { grouped } from '../../i18n/grouped';
import { useIsPrinted } from '../../parts/printed';
import { TypeGlyph } from '../../parts/type-glyph';

const ROW_PX = 32;
const COLUMNS = ['name', 'parent', 'lifecycle', 'edges'] as const;

interface NodeTableProps {
  readonly graph: Graph;
  readonly shown: Shown;
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly onUnfilter: () => void;
}

/** The nodes of the drawing as a list: the same filters, the same selection, for the keyboard and screen readers. */
export function NodeTable({ graph, shown, selectedId, onSelect, onUnfilter }: NodeTableProps) {
  const { t } = useTranslation();
  if (shown.nodes.length > 0)
    return (
      <>
        <div className="trow titles">
          <span />
          {COLUMNS.map((column) => (
            <span key={column} className="cut">
              {t(`graph.columns.${column}`)}
            </span>
          ))}
        </div>
        <Rows {...{ graph, shown, selectedId, onSelect }} />
      </>
    );
  return (
    <div className="empty">
      <SearchX className="i" aria-hidden="true" />
      <p>{graph.nodes.size === 0 ? t('graph.empty') : t('graph.all_filtered', { count: graph.nodes.size })}</p>
      {graph.nodes.size > 0 ? (
        <button type="button" className="btn" onClick={onUnfilter}>
          {t('graph.unfilter')}
        </button>
      ) : (
        <Link className="btn" to="/start">
          {t('start.title')}
        </Link>
      )}
    </div>
  );
}

function Rows({ graph, shown, selectedId, onSelect }: Omit<NodeTableProps, 'onUnfilter'>) {
  const { t, i18n } = useTranslation();
  const nodes = useMemo(() => sorted(shown.nodes, i18n.language), [shown.nodes, i18n.language]);
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useActive(nodes, selectedId);
  const degrees = useMemo(() => degreesOf(shown.edges), [shown.edges]);
  const parents = useMemo(() => parentsOf(graph), [graph]);
  const rows = useVirtualizer({
    count: nodes.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    initialOffset: Math.max(0, active * ROW_PX - 200),
  });
  // Paper does not scroll: each row stands on it.
  const drawn = useIsPrinted() ? nodes.map((_, index) => ({ index, start: 0 })) : rows.getVirtualItems();
  const go = (to: number) => {
    const next = Math.min(nodes.length - 1, Math.max(0, to));
    setActive(next);
    rows.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_PX) - 1);
    const node = nodes[active];
    const goal = goalsFrom(active, page, nodes.length)[event.key];
    if (goal !== undefined) go(goal);
    else if (event.key === 'Enter' && node) onSelect(node.id);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={scroller}
      className="scroll paper"
      role="listbox"
      aria-label={t('graph.list')}
      tabIndex={0}
      aria-activedescendant={`${id}-${active}`}
      onKeyDown={onKeyDown}
      data-row
    >
      <div style={{ height: rows.getTotalSize(), position: 'relative' }} role="presentation">
        {drawn.map(({ index, start }) => {
          const node = nodes[index];
          if (!node) return null;
          const marks = `${node.id === selectedId ? ' at' : ''}${index === active ? ' active' : ''}`;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys of all its rows
            <div
              key={node.id}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={node.id === selectedId}
              aria-setsize={nodes.length}
              aria-posinset={index + 1}
              className={`trow${marks}`}
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => {
                setActive(index);
                onSelect(node.id);
              }}
            >
              <Row node={node} parent={graph.nodes.get(parents.get(node.id) ?? '')} edges={degrees.get(node.id)} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The place of the row that the keys go on from: of the same node while others come and go, or what stands in its place. */
function useActive(nodes: readonly GraphNode[], firstId: string | undefined) {
  const [wanted, setWanted] = useState({ id: firstId, index: 0 });
  const known = nodes.findIndex((node) => node.id === wanted.id);
  const active = Math.min(nodes.length - 1, Math.max(0, known === -1 ? wanted.index : known));
  return [active, (index: number) => setWanted({ id: nodes[index]?.id, index })] as const;
}

interface RowProps {
  readonly node: GraphNode;
  /** What it belongs to. */
  readonly parent: GraphNode | undefined;
  readonly edges: number | undefined;
}

function Row({ node: { type, name, lifecycle }, parent, edges = 0 }: RowProps) {
  const { t, i18n } = useTranslation();
  return (
    <>
      <TypeGlyph type={type} label={t(`type.${type}`)} />
      <span className="cut med">{name}</span>
      <span className="t3 f12 cut">{parent?.name}</span>
      <span className="t3 f12 cut">{t(`lifecycle.${lifecycle}`)}</span>
      <span className="t3 f12 num">
        <span aria-hidden="true">{grouped(edges, i18n.language)}</span>
        <span className="vh">{t('graph.edges', { count: edges })}</span>
      </span>
    </>
  );
}

/** Where the keys lead. */
function goalsFrom(at: number, page: number, count: number): Readonly<Record<string, number>> {
  const [down, up] = [at + 1, at - 1];
  return {
    ArrowDown: down,
    j: down,
    ArrowUp: up,
    k: up,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: count - 1,
  };
}

function sorted(nodes: readonly GraphNode[], language: string): readonly GraphNode[] {
  const { compare } = new Intl.Collator(language, { numeric: true });
  return [...nodes].sort((a, b) => compare(a.name, b.name));
}
