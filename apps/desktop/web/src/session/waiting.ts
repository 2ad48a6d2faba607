import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type getOverview, listSessions, type OutputOf } from '@workspace-graph/contracts';
import { putAnswer } from '../api/asked';
import { client } from '../api/client';
import { live, useIsSettled } from '../api/live';

const KEY = ['waiting'];
/** As many as an overview has sessions. */
const MOST = 50;

/** How many of one's own sessions wait for an answer. */
export function useWaiting(): number {
  const bringsItself = useLocation({ select: ({ pathname }) => pathname === '/' || pathname.startsWith('/overview') });
  const isSettled = useIsSettled();
  const { data = 0 } = useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }) => {
      const { items } = await client.call(listSessions, { own: true, waiting: true, limit: MOST }, { signal });
      live.knowWaiting(items.map(({ id }) => id));
      return items.length;
    },
    enabled: ({ state }) => state.data !== undefined || (isSettled && !bringsItself),
  });
  return data;
}

/** What an overview has told of it, which was asked for at a moment of `performance.now`. */
export function noteWaiting(sessions: OutputOf<typeof getOverview>['sessions']['items'], askedMs: number): void {
  const waiting = sessions.filter(({ waiting_since }) => waiting_since !== null);
  live.knowWaiting(waiting.map(({ id }) => id));
  putAnswer(KEY, waiting.filter(({ is_own }) => is_own).length, askedMs);
}
