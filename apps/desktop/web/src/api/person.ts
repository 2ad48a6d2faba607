import { type OutputOf, whoami } from '@workspace-graph/contracts';
import { client, queries } from './client';
import { onSignIn, onSignOut } from './sign-in';

export type Me = OutputOf<typeof whoami>;

/** Whose texts the browser tab keeps. */
const KEPT_FOR = 'svc:person';
/** Whom this document has been shown to. */
let shownTo: string | null = null;
const listeners = new Set<() => void>();

/** Who is signed in. A page is of one person: for another one it begins anew, and so does what the tab keeps of it. */
export const meQuery = {
  queryKey: ['me'],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<Me> => {
    const me = await client.call(whoami, {}, { signal });
    return become(me.user.id) ? me : never;
  },
};

/** Calls back before the page begins anew for somebody else. */
export function onSomebodyElse(listener: () => void): void {
  listeners.add(listener);
}

/** Nothing comes of what a page asked that is being left. */
const never = new Promise<never>(() => undefined);

/** Answers whether this document may be shown to the person. */
function become(id: string): boolean {
  if (sessionStorage.getItem(KEPT_FOR) !== id) {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith('svc:')) sessionStorage.removeItem(key);
    sessionStorage.setItem(KEPT_FOR, id);
  }
  if (shownTo !== null && shownTo !== id) {
    for (const listener of listeners) listener();
    location.reload();
    return false;
  }
  shownTo = id;
  return true;
}

// Whoever signs in next, in whatever tab, must find nothing of it.
onSignOut(() => queries.clear());
// It may be somebody else.
onSignIn(() => void queries.invalidateQueries({ queryKey: meQuery.queryKey }));
