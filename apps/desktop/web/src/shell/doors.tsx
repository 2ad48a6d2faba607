import {
  createContext,
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
} from 'react';
import { useMe } from '../node/node-query';
import { useKept } from '../parts/kept';
import { useEarlyKeys } from './early-keys';
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

const isInPalette = (): boolean => document.activeElement?.closest('.palette') != null;
const isInNewNode = (): boolean => document.activeElement?.closest('.new-node') != null;

interface DoorsProps {
  readonly onKeys: () => void;
  readonly children: ReactNode;
}

/** What is opened from everywhere: the palette, by Ctrl-K too, and the form of a new node. */
export function WithDoors({ onKeys, children }: DoorsProps) {
  const [door, setDoor] = useState<Door | null>(null);
  /** What is looked for in the palette. */
  const [sought, setSought] = useState('');
  const [, setName] = useKept('new node');
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
  const leave = useCallback(() => {
    setSought('');
    setDoor(null);
  }, []);
  useEarlyKeys(
    door === 'palette',
    isInPalette,
    useCallback((text) => setSought((before) => before + text), []),
    leave,
  );
  useEarlyKeys(
    door === 'new-node',
    isInNewNode,
    useCallback((text) => setName((before) => before + text), [setName]),
    leave,
  );
  const open = useMemo<Open>(() => (next) => setDoor(next), []);
  const close = () => {
    setSought('');
    setDoor((former) => (former === door ? null : former));
  };
  return (
    <Doors.Provider value={open}>
      {children}
      <Suspense fallback={null}>
        {door === 'palette' && <Palette actions={actions} text={sought} onText={setSought} onClose={close} />}
        {door === 'new-node' && <NewNode besideId={node} onClose={close} />}
      </Suspense>
    </Doors.Provider>
  );
}
