import { useEffect } from 'react';

/** Keys that would do something to what has the focus. */
const ACTING = ['Enter', 'Backspace', 'Delete'];

/**
 * While something is on its way that is to have the focus, what is typed goes to it, and not into what has the focus still.
 * `isThere` tells whether it has the focus by now; once it had it, keys are its own again.
 */
export function useEarlyKeys(isOpen: boolean, isThere: () => boolean, onText: (text: string) => void): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const onFocus = (): void => {
      if (isThere()) end();
    };
    const onKey = (event: KeyboardEvent): void => {
      if (isThere()) return end();
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const isText = [...event.key].length === 1;
      if (!isText && !ACTING.includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      if (isText) onText(event.key);
    };
    const end = (): void => {
      removeEventListener('keydown', onKey, { capture: true });
      removeEventListener('focusin', onFocus);
    };
    addEventListener('keydown', onKey, { capture: true });
    addEventListener('focusin', onFocus);
    return end;
  }, [isOpen, isThere, onText]);
}
