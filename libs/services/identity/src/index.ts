export {
  type Administrator,
  bootstrapAdministrator,
  ensureLocalOwner,
  type LocalOwner,
} from './bootstrap/bootstrap.js';
export { checkWorkspaceOwner, noteReveal, replaceWorkspaceToken } from './bootstrap/workspace-token.js';
export { ensureLocalDevice } from './devices/local-device.js';
export { IdentityModule } from './identity.module.js';
