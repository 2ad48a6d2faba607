import { useEffect, useRef } from 'react';

/** Does what was asked for before the answer was there once it is; answers how it is asked for, and given up. */
export function useAwaited(
  isAnswered: boolean,
  act: () => void,
): { readonly ask: () => void; readonly leave: () => void } {
  const isAsked = useRef(false);
  useEffect(() => {
    if (!isAnswered || !isAsked.current) return;
    isAsked.current = false;
    act();
  });
  const put = (value: boolean) => () => {
    isAsked.current = value;
  };
  return { ask: put(true), leave: put(false) };
}
