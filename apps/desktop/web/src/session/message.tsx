import { useLayoutEffect, useRef } from 'react';
import { renderMessage } from '../reader/markdown';
import { useFollowed } from '../reader/use-followed';

interface MessageProps {
  readonly text: string;
  /** Where links to files lead. */
  readonly nodeId: string | null;
}

/** What an agent says, formatted as it was meant. */
export function Message({ text, nodeId }: MessageProps) {
  const box = useRef<HTMLDivElement>(null);
  // Before its row is measured.
  useLayoutEffect(() => box.current?.replaceChildren(renderMessage(text, nodeId)), [text, nodeId]);
  useFollowed(box);
  return <div className="doc said" dir="auto" ref={box} />;
}
