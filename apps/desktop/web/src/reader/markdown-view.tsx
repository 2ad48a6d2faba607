import { useCallback, useEffect, useRef } from 'react';
import type { FilePlace } from './addresses';
import { render } from './markdown';
import { Sheet } from './sheet';
import { useFollowed } from './use-followed';

interface MarkdownViewProps {
  readonly place: FilePlace;
  readonly text: string;
}

/** A text as it is to be read. Its links to files of the node are followed here. */
export default function MarkdownView({ place: { nodeId, path }, text }: MarkdownViewProps) {
  const paper = useRef<HTMLElement>(null);
  useEffect(() => paper.current?.replaceChildren(render(text, { nodeId, path })), [text, nodeId, path]);
  const goTo = useCallback((href: string) => {
    const heading = [...(paper.current?.querySelectorAll('[id]') ?? [])].find(({ id }) => `#${id}` === href);
    heading?.scrollIntoView();
  }, []);
  useFollowed(paper, goTo);
  return (
    <Sheet className="paper">
      <article className="doc" ref={paper} />
    </Sheet>
  );
}
