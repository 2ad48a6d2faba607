import { ServiceError } from '@workspace-graph/contracts';

export function userNotFound(userId: string, path?: string): ServiceError {
  return new ServiceError('USER_NOT_FOUND', `There is no user ${userId}.`, {
    user_id: userId,
    ...(path ? { path } : {}),
  });
}

export function groupNotFound(groupId: string): ServiceError {
  return new ServiceError('GROUP_NOT_FOUND', `There is no group ${groupId}.`, { group_id: groupId });
}

/** The caller's own credential has ended since the edge looked at it. */
export function credentialEnded(): ServiceError {
  return new ServiceError('UNAUTHENTICATED', 'The token is not valid.');
}

/** The caller's scope was lowered since the edge looked at it: what is left may do, at the next try. */
export function rightsChanged(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'Your permissions have just changed; try again.');
}
