import { QueryClient } from '@tanstack/react-query';
import { Client, Refusal, Unreachable } from '@workspace-graph/client';

/** The workspace that has served this page; the browser's cookie is the credential. */
export const client = new Client({ url: location.origin });

/** Whether a browser says that it has no network does not matter: the workspace may be on this very machine. */
const networkMode = 'always';

/** A refusal is an answer: it is shown. What nobody answered is asked again, once. */
export const queries = new QueryClient({
  defaultOptions: {
    mutations: { networkMode },
    queries: {
      networkMode,
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: (count, error) => error instanceof Unreachable && count < 1,
    },
  },
});

/** Whether the browser holds no credential, or none that is good any more. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof Refusal && error.status === 401;
}
