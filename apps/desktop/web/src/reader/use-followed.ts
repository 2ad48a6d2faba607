import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useEffect } from 'react';
import { selectionOf } from '../shell/selection';

/**
 * Follows links of a text to files within this page; whatever else is selected stays. `onHeading` is told the links to a part of the
 * text itself.
 */
export function useFollowed(text: RefObject<HTMLElement | null>, onHeading?: (href: string) => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    const element = text.current;
    const follow = (event: MouseEvent): void => {
      const href = (event.target as Element).closest('a')?.getAttribute('href') ?? '';
      const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
      if (!isPlain || !/^[#?]/.test(href)) return;
      event.preventDefault();
      if (href.startsWith('#')) return onHeading?.(href);
      const asked = Object.fromEntries(new URLSearchParams(href));
      void navigate({ to: '.', search: (before: Record<string, unknown>) => selectionOf({ ...before, ...asked }) });
    };
    element?.addEventListener('click', follow);
    return () => element?.removeEventListener('click', follow);
  }, [text, navigate, onHeading]);
}
