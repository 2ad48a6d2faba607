import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { listSessions } from '@workspace-graph/contracts';
import { client, queries } from '../api/client';

const KEY = ['waiting'];
/** As many as an overview has sessions. */
const MOST = 50;

/** How many of one's own sessions wait for an answer. */
export function useWaiting(): number {
  const bringsItself = useLocation({ select: ({ pathname }) => pathname === '/' || pathname.startsWith('/overview') });
  const { data = 0 } = useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }) => {
      const { items } = await client.call(listSessions, { own: true, waiting: true, limit: MOST }, { signal });
      return items.length;
    },
    enabled: ({ state }) => !bringsItself || state.data !== undefined,
  });
  return data;
}

/** What an overview has told of it. */
export function noteWaiting(count: number): void {
  queries.setQueryData(KEY, count);
}
