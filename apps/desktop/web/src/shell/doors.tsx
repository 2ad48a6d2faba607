import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect, useMemo, useState } from 'react';
import { useMe } from '../node/node-query';
import { useActions } from './palette/actions';
import { useSelection } from './selection';

const Palette = lazy(() => import('./palette/palette'));
const NewNode = lazy(() => import('../create/new-node'));

type Door = 'palette' | 'new-node';
/** Opens what lies over every view. */
type Open = (door: Door) => void;
const Doors = createContext<Open>(() => undefined);

export function useDoors(): Open {
  return useContext(Doors);
}

interface DoorsProps {
  readonly onKeys: () => void;
  readonly children: ReactNode;
}

/** What is opened from everywhere: the palette, by Ctrl-K too, and the form of a new node. */
export function WithDoors({ onKeys, children }: DoorsProps) {
  const [door, setDoor] = useState<Door | null>(null);
  const me = useMe();
  const { node } = useSelection();
  const mayMake = me.scope === 'manage';
  const actions = useActions({ onKeys, onNewNode: mayMake ? () => setDoor('new-node') : undefined });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      setDoor((former) => (former === null ? 'palette' : former));
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const open = useMemo<Open>(() => (next) => setDoor(next), []);
  const close = () => setDoor((former) => (former === door ? null : former));
  return (
    <Doors.Provider value={open}>
      {children}
      <Suspense fallback={null}>
        {door === 'palette' && <Palette actions={actions} onClose={close} />}
        {door === 'new-node' && <NewNode besideId={node} onClose={close} />}
      </Suspense>
    </Doors.Provider>
  );
}
