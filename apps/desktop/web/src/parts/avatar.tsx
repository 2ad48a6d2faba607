import { Bot } from 'lucide-react';

/** Up to two initials. */
function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter(Boolean);
  const last = words.length > 1 ? words.at(-1) : undefined;
  return `${words[0]?.[0] ?? ''}${last?.[0] ?? ''}`;
}

/** Somebody's initials, or the sign of an agent; always beside their name. */
export function Avatar({ name, isAgent = false }: { readonly name: string; readonly isAgent?: boolean }) {
  return (
    <span className={`av s16${isAgent ? ' bot' : ''}`} aria-hidden="true">
      {isAgent ? <Bot className="i s12" /> : initialsOf(name)}
    </span>
  );
}

export { initialsOf };
