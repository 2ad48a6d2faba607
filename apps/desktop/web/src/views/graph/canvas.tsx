import { useComputedColorScheme } from '@mantine/core';
import { setPositions } from '@workspace-graph/contracts';
import { Crosshair, Maximize, Minus, Plus } from 'lucide-react';
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/change';
import type { Shown } from '../../graph/filters';
import type { Graph } from '../../graph/graph';
import { keepPlaces } from '../../graph/graph-query';
import { IconButton } from '../../parts/icon-button';
import { Refused } from '../../parts/problem';
import { type Direction, Drawing } from './drawing';
import { type Places, place } from './layout';

interface CanvasProps {
  readonly graph: Graph;
  readonly shown: Shown;
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string | null) => void;
  /** Whether places are kept for everybody. */
  readonly mayPlace: boolean;
  readonly onUnable: () => void;
}

/** The drawing of the graph, with its tools; the list beside it does the same for whoever does not see it. */
export default function Canvas({ graph, shown, selectedId, onSelect, mayPlace, onUnable }: CanvasProps) {
  const { t } = useTranslation();
  const scheme = useComputedColorScheme();
  const container = useRef<HTMLDivElement>(null);
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const { places, move, isPlacing, error } = usePlaces(graph, mayPlace);
  const handlers = useRef({ onSelect, move });
  handlers.current = { onSelect, move };

  useEffect(() => {
    if (!container.current) return;
    try {
      const made = new Drawing(container.current, {
        onSelect: (id) => handlers.current.onSelect(id),
        onMove: (id, to) => handlers.current.move(id, to),
      });
      setDrawing(made);
      return () => {
        made.dispose();
        setDrawing(null);
      };
    } catch {
      onUnable();
      return undefined;
    }
  }, [onUnable]);
  useEffect(() => drawing?.show(shown, places), [drawing, shown, places]);
  useEffect(() => drawing?.select(selectedId ?? null), [drawing, selectedId]);
  useEffect(() => drawing?.recolour(), [drawing, scheme]);
  useEffect(() => {
    if (!isPlacing) drawing?.hold();
  }, [drawing, isPlacing]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !drawing) return;
    const actions: Readonly<Record<string, () => void>> = {
      '+': () => drawing.zoom(true),
      '-': () => drawing.zoom(false),
      '0': () => drawing.fit(),
      f: () => drawing.focus(),
    };
    const next = event.key.startsWith('Arrow') ? drawing.toward(event.key as Direction) : null;
    if (next !== null) onSelect(next);
    else if (event.key in actions) actions[event.key]?.();
    else return;
    event.preventDefault();
  };
  return (
    <section className="gwrap" aria-label={t('graph.drawing')}>
      <div
        ref={container}
        className="gcanvas"
        role="application"
        aria-label={t('graph.drawing_of', { count: shown.nodes.length })}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys walk along the edges here
        tabIndex={0}
        onKeyDown={onKeyDown}
      />
      <div className="gt gtools">
        <div className="gtool">
          <IconButton icon={Minus} label={t('graph.zoom_out')} onClick={() => drawing?.zoom(false)} />
          <IconButton icon={Plus} label={t('graph.zoom_in')} onClick={() => drawing?.zoom(true)} />
          <IconButton icon={Maximize} label={t('graph.fit')} onClick={() => drawing?.fit()} />
          <IconButton icon={Crosshair} label={t('graph.focus')} onClick={() => drawing?.focus()} />
        </div>
        {isPlacing && (
          <span className="f12 t3" role="status">
            {t('graph.placing')}
          </span>
        )}
        <Refused error={error} />
      </div>
      {selectedId !== undefined && (
        <p className="ghint f12 t3">
          <kbd>Esc</kbd> {t('graph.unselect')}
        </p>
      )}
    </section>
  );
}

/** Where every node is drawn: as kept, or placed here once and then kept for everybody. */
function usePlaces({ nodes, edges }: Graph, mayPlace: boolean) {
  const [places, setPlaces] = useState<Places>(new Map());
  const [isPlacing, setPlacing] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const keep = useCallback(
    (made: Places) => {
      keepPlaces(made);
      if (!mayPlace) return;
      const positions = [...made].map(([node_id, { x, y }]) => ({ node_id, x, y }));
      change(setPositions, { positions }).catch(setError);
    },
    [mayPlace],
  );
  useEffect(() => {
    const known = new Map([...nodes.values()].flatMap(({ id, place: kept }) => (kept ? [[id, kept] as const] : [])));
    const missing = [...nodes.keys()].filter((id) => !known.has(id));
    setPlacing(missing.length > 0);
    if (missing.length === 0) return setPlaces(known);
    return place({ nodes, edges }, known, (now, isLast) => {
      setPlaces(now);
      if (isLast) keep(new Map([...now].filter(([id]) => !known.has(id))));
    });
  }, [nodes, edges, keep]);
  const move = (id: string, to: { readonly x: number; readonly y: number }) => keep(new Map([[id, to]]));
  return { places, move, isPlacing, error };
}
