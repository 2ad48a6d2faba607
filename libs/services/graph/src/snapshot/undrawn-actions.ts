import {
  addDataSource,
  addResponsibility,
  addTool,
  archiveEvent,
  completeRotation,
  createActor,
  createToken,
  editEvent,
  refuseAccessRequest,
  removeDataSource,
  removeResponsibility,
  removeTool,
  reorderResponsibilities,
  requestAccess,
  resolveEvent,
  revokeToken,
  rotateToken,
  supersedeEvent,
  updateResponsibility,
  withdrawAccessRequest,
} from '@workspace-graph/contracts';

/**
 * Operations besides `log` that change neither what the snapshot draws nor who may see it; changes of files are told by
 * their kind instead, as their actions are many. One that is missing here costs time only: the snapshot is read anew
 * and found to be the same.
 */
export const UNDRAWN_ACTIONS: readonly string[] = [
  editEvent,
  resolveEvent,
  supersedeEvent,
  archiveEvent,
  addResponsibility,
  updateResponsibility,
  removeResponsibility,
  reorderResponsibilities,
  addDataSource,
  removeDataSource,
  addTool,
  removeTool,
  createActor,
  requestAccess,
  refuseAccessRequest,
  withdrawAccessRequest,
  createToken,
  rotateToken,
  completeRotation,
  revokeToken,
].map((operation) => operation.name);
