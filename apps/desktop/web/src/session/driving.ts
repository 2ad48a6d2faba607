import { useMutation } from '@tanstack/react-query';
import type { Session } from '@workspace-graph/contracts';
import { queries } from '../api/client';

/** Changes a session, and shows it as it is then, also where the change was refused. */
export function useDriving({ id, node }: Session) {
  return useMutation({
    mutationFn: (drive: () => Promise<Session>) => drive(),
    onSuccess: (session) => queries.setQueryData(['session', id, 'record'], session),
    onSettled: () => {
      const keys = [['session', id], ['sessions'], ...(node ? [['node', node.id, 'sessions']] : [])];
      return Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
  });
}

export type Driving = ReturnType<typeof useDriving>;
