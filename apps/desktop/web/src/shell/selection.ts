import { useSearch } from '@tanstack/react-router';

/** What every view keeps in its address. */
export interface Selection {
  /** The selected node. */
  readonly node?: string | undefined;
  /** The session that is looked at. */
  readonly session?: string | undefined;
  /** The file of the selected node that is read, by its path. */
  readonly file?: string | undefined;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** What an address selects; what else it holds is left out. */
export function selectionOf(given: Record<string, unknown>): Selection {
  const [node, session, file] = [text(given['node']), text(given['session']), text(given['file'])];
  return { ...(node ? { node } : {}), ...(session ? { session } : {}), ...(node && file ? { file } : {}) };
}

/** What the address of this page selects. */
export function useSelection(): Selection {
  return useSearch({ strict: false, select: selectionOf });
}
