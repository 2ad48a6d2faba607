import { useNavigate } from '@tanstack/react-router';
import { type MouseEvent, useEffect, useRef } from 'react';
import { selectionOf } from '../shell/selection';
import type { FilePlace } from './addresses';
import { render } from './markdown';
import { Sheet } from './sheet';

interface MarkdownViewProps {
  readonly place: FilePlace;
  readonly text: string;
}

/** A text as it is to be read. Its links to files of the node are followed here. */
export default function MarkdownView({ place: { nodeId, path }, text }: MarkdownViewProps) {
  const navigate = useNavigate();
  const paper = useRef<HTMLElement>(null);
  useEffect(() => paper.current?.replaceChildren(render(text, { nodeId, path })), [text, nodeId, path]);
  const follow = (event: MouseEvent) => {
    const href = (event.target as Element).closest('a')?.getAttribute('href') ?? '';
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!isPlain || !/^[#?]/.test(href)) return;
    event.preventDefault();
    if (href.startsWith('?')) return void navigate({ to: '.', search: selectionOf(entriesOf(href)) });
    const heading = [...(paper.current?.querySelectorAll('[id]') ?? [])].find(({ id }) => `#${id}` === href);
    heading?.scrollIntoView();
  };
  return (
    <Sheet className="paper" onClick={follow}>
      <article className="doc" ref={paper} />
    </Sheet>
  );
}

function entriesOf(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query));
}
