import { QueryClient } from '@tanstack/react-query';
import { Client, Refusal, Unreachable } from '@workspace-graph/client';

/** The workspace that has served this page; the browser's cookie is the credential. */
export const client = new Client({ url: location.origin });

/** A refusal is an answer: it is shown. What nobody answered is asked again, once. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
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
