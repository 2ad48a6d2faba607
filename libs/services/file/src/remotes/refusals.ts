import { ServiceError } from '@workspace-graph/contracts';
import { CredentialsUnreadable, RemoteFailure, RemoteUnfit, serviceErrorOf } from '@workspace-graph/remotes';
import { type ToldNode, toldPath } from '../shared/told-path.js';

type Reason = 'unfit' | 'no_credentials' | 'wrong_root' | 'foreign_root' | 'root_in_use' | 'forbidden';

/** Does something with a remote. @throws ServiceError in place of what remotes and token stores throw */
export async function onRemote<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw refusalOf(name, error);
  }
}

/** Does something with one object of a remote, which the caller knows by its path within the node. */
export async function onObject<T>(name: string, path: string, work: () => Promise<T>): Promise<T> {
  return onRemote(name, () =>
    work().catch((error: unknown) => {
      // Where the folder of the node lies may tell of an organization that is hidden from the caller.
      if (!(error instanceof RemoteFailure) || error.facts.path === '') throw error;
      throw new RemoteFailure(error.reason, { ...error.facts, path }, { cause: error });
    }),
  );
}

/** Does something with objects of a node. */
export async function onNode<T>(name: string, node: ToldNode, work: () => Promise<T>): Promise<T> {
  return onRemote(name, () =>
    work().catch((error: unknown) => {
      if (!(error instanceof RemoteFailure) || error.facts.path === '') throw error;
      const path = toldPath(node, error.facts.path, '');
      throw new RemoteFailure(error.reason, { ...error.facts, path }, { cause: error });
    }),
  );
}

export function remoteRefused(name: string, reason: Reason, message: string, cause?: unknown): ServiceError {
  return new ServiceError('REMOTE_REFUSED', message, { remote_name: name, reason }, { cause });
}

export function remoteNotFound(name: string): ServiceError {
  return new ServiceError('REMOTE_NOT_FOUND', `There is no remote ${name}.`, { remote_name: name });
}

function refusalOf(name: string, error: unknown): unknown {
  if (error instanceof CredentialsUnreadable) return remoteRefused(name, 'no_credentials', error.problem, error);
  if (error instanceof RemoteUnfit)
    return remoteRefused(name, 'unfit', `The storage cannot be the remote ${name}. ${error.problem}`, error);
  if (!(error instanceof RemoteFailure)) return error;
  if (error.reason === 'forbidden' && error.facts.path === '' && !error.facts.folder)
    return remoteRefused(name, 'forbidden', `The storage refuses the credentials of ${name}, or its root.`, error);
  return serviceErrorOf(error, name);
}
