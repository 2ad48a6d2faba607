import { Bot } from 'lucide-react';

/** Two initials; of a single word its first two letters. */
function initialsOf(name: string): string {
  const [first = [], ...others] = name
    .split(/[\s._-]+/)
    .filter(Boolean)
    .map((word) => [...word]);
  return `${first[0] ?? ''}${others.at(-1)?.[0] ?? first[1] ?? ''}`;
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
