import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';

/** Where the detail finds no place beside the session, it lies over it. */
const NARROW = '(max-width: 1180px)';

/** Whether the detail of the selected node is in sight, and how. */
export interface DetailVisible {
  readonly isVisible: boolean;
  /** It lies over the session, until the session changes or something else is turned to. */
  readonly isSheet: boolean;
  readonly toggle: () => void;
  readonly hide: () => void;
}

/** Beside the session as this browser last chose; over it only when asked for, which is not kept. */
export function useDetailVisible(sessionId: string | undefined): DetailVisible {
  const [isKept, setKept] = useLocalStorage<boolean>({
    key: 'svc:workspace.detailVisible',
    defaultValue: true,
    getInitialValueInEffect: false,
  });
  const isSheet = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const [sheet, setSheet] = useState({ isOpen: false, sessionId });
  if (sheet.sessionId !== sessionId) setSheet({ isOpen: false, sessionId });
  const isVisible = isSheet ? sheet.isOpen : isKept;
  const set = (next: boolean) => (isSheet ? setSheet({ isOpen: next, sessionId }) : setKept(next));
  return { isVisible, isSheet, toggle: () => set(!isVisible), hide: () => set(false) };
}
