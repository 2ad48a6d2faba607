import { useNavigate } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { renderMessage } from '../reader/markdown';
import { selectionOf } from '../shell/selection';

interface MessageProps {
  readonly text: string;
  /** Where links to files lead. */
  readonly nodeId: string | null;
}

/** What an agent says, formatted as it was meant. */
export function Message({ text, nodeId }: MessageProps) {
  const navigate = useNavigate();
  const box = useRef<HTMLDivElement>(null);
  // Before its row is measured.
  useLayoutEffect(() => box.current?.replaceChildren(renderMessage(text, nodeId)), [text, nodeId]);
  useEffect(() => {
    const element = box.current;
    const follow = (event: MouseEvent): void => {
      const href = (event.target as Element).closest('a')?.getAttribute('href') ?? '';
      const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
      if (!isPlain || !href.startsWith('?')) return;
      event.preventDefault();
      const asked = Object.fromEntries(new URLSearchParams(href));
      void navigate({ to: '.', search: (before: Record<string, unknown>) => selectionOf({ ...before, ...asked }) });
    };
    element?.addEventListener('click', follow);
    return () => element?.removeEventListener('click', follow);
  }, [navigate]);
  return <div className="doc said" dir="auto" ref={box} />;
}
