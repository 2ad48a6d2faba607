import { useQuery } from '@tanstack/react-query';
import { getSession, type Session } from '@workspace-graph/contracts';
import { client } from '../api/client';
import type { Me } from '../api/person';

/** The record of a session; what changes elsewhere is asked for again over the live channel. */
export function useSession(sessionId: string) {
  return useQuery({
    queryKey: ['session', sessionId, 'record'],
    queryFn: ({ signal }) => client.call(getSession, { session_id: sessionId }, { signal }),
  });
}

/** Who may drive a session: the owner does, and stops and undoes are also for whoever manages. */
export function rightsIn(
  { is_own }: Session,
  { scope }: Me,
): { readonly mayDrive: boolean; readonly mayStop: boolean } {
  const mayDrive = is_own && scope !== 'read';
  return { mayDrive, mayStop: mayDrive || scope === 'manage' };
}
