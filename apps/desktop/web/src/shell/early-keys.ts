import { useEffect } from 'react';

/** Keys that would do something to what has the focus. */
const ACTING = ['Enter', 'Backspace', 'Delete', 'Escape'];

const isText = ({ key }: KeyboardEvent): boolean => [...key].length === 1;
const isTaken = (event: KeyboardEvent): boolean =>
  !(event.ctrlKey || event.metaKey || event.altKey) && (isText(event) || ACTING.includes(event.key));

/**
 * While something is on its way that is to have the focus, what is typed goes to it, and not into what has the focus still;
 * Escape leaves it.
 * `isThere` tells whether it has the focus by now; once it had it, keys are its own again.
 */
export function useEarlyKeys(
  isOpen: boolean,
  isThere: () => boolean,
  onText: (text: string) => void,
  onLeave: () => void,
): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const onFocus = (): void => {
      if (isThere()) end();
    };
    const onKey = (event: KeyboardEvent): void => {
      if (isThere()) return end();
      if (!isTaken(event)) return;
      event.preventDefault();
      event.stopPropagation();
      if (isText(event)) onText(event.key);
      if (event.key === 'Escape') onLeave();
    };
    const end = (): void => {
      removeEventListener('keydown', onKey, { capture: true });
      removeEventListener('focusin', onFocus);
    };
    addEventListener('keydown', onKey, { capture: true });
    addEventListener('focusin', onFocus);
    return end;
  }, [isOpen, isThere, onText, onLeave]);
}
