import { type Caller, ServiceError } from '@workspace-graph/contracts';

export { seenBy } from '@workspace-graph/database';

/** The device that asks. Operations of the tier `device` have one. */
export function deviceOf({ device_id }: Caller): string {
  if (device_id === undefined) throw new Error('The call does not come from a device');
  return device_id;
}

/** The user to record as author of a change; null for the system itself. */
export function authorOf(caller: Caller): string | null {
  return caller.via === 'system' ? null : caller.user_id;
}

/** The refusal of an absent node and of a hidden one alike. */
export function nodeNotFound(nodeId: string): ServiceError {
  return new ServiceError('NODE_NOT_FOUND', `There is no node ${nodeId} that you may see.`, { node_id: nodeId });
}

/** The refusal to a caller who may read a node and not write on it. */
export function nodeIsReadOnly(nodeId: string): ServiceError {
  return new ServiceError('FORBIDDEN', `You may read the node ${nodeId}, but not write to it.`, { node_id: nodeId });
}

/** The refusal of an absent file, of one of a hidden node and of one of another node alike. */
export function fileNotFound(fileId: string): ServiceError {
  return new ServiceError('FILE_NOT_FOUND', `There is no file ${fileId} that you may see.`, { file_id: fileId });
}
